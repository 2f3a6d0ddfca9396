#pragma once

// A program that sees the headers with other settings than the library was built with would get other code
// from them, and nobody would tell: a GuardedAllocator<> that guards nothing, say. So each setting is part of
// the name of a symbol that the library has and every program asks for, and linking such a program fails with
// the setting in the message. What a program compiles without naming settings has their defaults: take the
// compiler's options from CMake's targets or from pkg-config.
#define OURO_SETTING_JOIN_(setting, value) the_library_was_not_built_with_##setting##value
#define OURO_SETTING_SYMBOL(setting, value) OURO_SETTING_JOIN_(setting, value)

// At namespace scope in `ouro::detail`, as in OURO_ASK_FOR_SETTING(OURO_HARDENING_, OURO_HARDENING). A word
// of constant data in the program, and no instruction.
#define OURO_ASK_FOR_SETTING(setting, value)               \
    extern const char OURO_SETTING_SYMBOL(setting, value); \
    [[gnu::used]] inline constinit const char* const asked_##setting = &OURO_SETTING_SYMBOL(setting, value);
