"""Usage: ecs_rejections_test.py <source folder> <compiler> [flag...]

Types that cannot be components, and queries and systems that mean nothing, do not compile. One message says why.
"""

import subprocess
import sys
import unittest

SOURCE, COMPILER, *FLAGS = sys.argv[1:]
del sys.argv[1:]
MODULES = ("base", "os", "memory", "observe", "jobs", "streams", "ecs")
# Other compilers add what follows from what they said first.
SAYS_ONE_THING = "clang" not in COMPILER
HEADERS = ("past_query", "reader_query", "schedule", "world")


def compile_body(declarations, statement):
    """Compiles a function that has a world and a schedule."""
    lines = [f"#include <ouro/ecs/{header}.hpp>" for header in HEADERS]
    lines += ["#include <string>", "using namespace ouro;", "struct Health { std::int32_t points; };",
              "struct Frozen {};", declarations, "void use(World& world, Schedule& schedule);",
              "void use([[maybe_unused]] World& world, [[maybe_unused]] Schedule& schedule) {", statement, "}"]
    command = [COMPILER, *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
    command += [f"-I{SOURCE}/modules/{module}/include" for module in MODULES]
    return subprocess.run(command, input="\n".join(lines) + "\n", stderr=subprocess.PIPE, text=True, timeout=250)


class Rejections(unittest.TestCase):
    def assert_rejected(self, declarations, statement, words, is_alone=SAYS_ONE_THING):
        result = compile_body(declarations, statement)
        self.assertNotEqual(result.returncode, 0, "it compiles")
        messages = [line for line in result.stderr.splitlines() if "error:" in line]
        self.assertIn(words, messages[0])
        if is_alone:
            self.assertEqual(len(messages), 1, result.stderr)

    def assert_component_rejected(self, fields, words):
        declaration = f"struct Bad {{ {fields} }};"
        self.assert_rejected(declaration, "static_cast<void>(world.component<Bad>());", words, is_alone=True)

    def assert_query_rejected(self, terms, words):
        self.assert_rejected("", f"static_cast<void>(Query<{terms}>(world).count());", words)

    def test_changes_of_what_a_query_does_not_read(self):
        count = "Query<Entity, With<Health>>(world).count_changed_since<Health>(1)"
        self.assert_rejected("", f"static_cast<void>({count});",
                             "what shall have changed is one of the query's own components")

    def assert_system_rejected(self, system, words):
        self.assert_rejected("", f'schedule.add("system", {system});', words)

    def test_that_the_rest_compiles(self):
        # Nothing need be registered before; a filter beside a reference is no second one.
        result = compile_body(
            "struct Good { Entity friend_of; float health; bool is_awake; bool flags[3]; };",
            "static_cast<void>(world.component<Good>());\n"
            "Query<Good&, const Health&, With<Health>, Changed<Good>, Without<Frozen>>(world)"
            ".each([](Good&, const Health&) {});\n"
            "static_cast<void>(Query<const Health&, const Health&>(world).count());\n"
            'schedule.add("system", [](Query<Good&> all, Res<const Health> total, Commands, World&) '
            "{ all.each([&](Good& good) { good.health = float(total->points); }); });")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_owns_memory(self):
        self.assert_component_rejected("std::string name;", "use SimVec, SimString, SimMap or OffsetPtr")

    def test_what_has_a_destructor(self):
        self.assert_component_rejected("int value; ~Bad() {}", "simulation state is copied as bytes")

    def test_virtual_functions(self):
        self.assert_component_rejected("int value; virtual int get() { return value; }",
                                       "simulation state is copied as bytes")

    def test_padding(self):
        self.assert_component_rejected("std::uint32_t id; double value;", "add an explicit padding field")

    def test_padding_behind_a_bool(self):
        self.assert_component_rejected("bool is_awake; float health;", "add an explicit padding field")

    def test_a_pointer(self):
        self.assert_component_rejected("Bad* next;", "use OffsetPtr<T> or a handle")

    def test_a_reference(self):
        self.assert_component_rejected("int& target;", "use OffsetPtr<T> instead of a reference")

    def test_a_width_that_differs(self):
        self.assert_component_rejected("long double value;", "use std::int32_t")

    def test_a_base(self):
        self.assert_rejected("struct Base { int x; }; struct Bad : Base { int y; };",
                             "static_cast<void>(world.component<Bad>());", "make the base a field")

    def test_the_places_where_components_become_known(self):
        bad = "struct Bad { int* pointer; };"
        for statement in ("static_cast<void>(world.spawn(Bad{}));", "static_cast<void>(world.add(Entity(), Bad{}));",
                          "static_cast<void>(Query<Bad&>(world).count());",
                          "static_cast<void>(world.resource<Bad>());",
                          'schedule.add("system", [](Query<const Bad&>) {});',
                          'schedule.add("system", [](Res<Bad>) {});',
                          'schedule.add("system", [](Commands commands) { commands.spawn(Bad{}); });'):
            with self.subTest(statement):
                self.assert_rejected(bad, statement, "use OffsetPtr<T> or a handle")

    def test_an_entity_as_a_component(self):
        self.assert_rejected("", "static_cast<void>(world.component<Entity>());", "make it a field of a struct")

    def test_a_component_by_another_name_than_its_own(self):
        self.assert_rejected("", "static_cast<void>(world.component<const Health>());",
                             "name a component by its plain type", is_alone=False)

    def test_a_tag_has_no_value(self):
        for term in ("Frozen&", "const Frozen&", "Mut<Frozen>", "Optional<Frozen&>", "Optional<const Frozen&>",
                     "Changed<Frozen>", "ChangedNow<Frozen>"):
            with self.subTest(term):
                self.assert_query_rejected(f"Health&, {term}", "a tag has no value: use With<T>; on_add tells")
        self.assert_rejected("", "static_cast<void>(world.at(3)->query<Changed<Frozen>>().count());",
                             "a tag has no value: use With<T>; on_add tells")
        self.assert_rejected("", "static_cast<void>(world.get<Frozen>(Entity()));", "ask has<T>(entity)",
                             is_alone=False)

    def test_names_of_rows_are_not_written(self):
        for term in ("Entity&", "Mut<Entity>", "Optional<Entity&>"):
            with self.subTest(term):
                self.assert_query_rejected(f"Health&, {term}", "a row's name cannot be written: use Entity")

    def test_a_singleton_is_no_column(self):
        clock = ("struct Clock { std::uint64_t ticks; };\n"
                 "template <> inline constexpr ComponentOptions ouro::kComponentOptions<Clock> = {.singleton = true};")
        for terms in ("const Clock&", "Clock&", "Mut<Clock>", "Optional<const Clock&>", "With<Clock>", "Without<Clock>",
                      "Changed<Clock>", "ChangedNow<Clock>"):
            with self.subTest(terms):
                self.assert_rejected(clock, f"static_cast<void>(Query<Health&, {terms}>(world).count());",
                                     "a singleton belongs to no entity: use Res<T>")
        self.assert_rejected(clock, "static_cast<void>(world.at(3)->query<const Clock&>().count());",
                             "a singleton belongs to no entity: use Res<T>")
        for call in ("on_add<Clock>(world, [](World&, Entity) {})", "on_change<Clock>(world, [](World&, Entity) {})",
                     "on_remove<Clock>(world, [](World&, Entity, const Clock&) {})"):
            with self.subTest(call):
                self.assert_rejected("#include <ouro/ecs/observers.hpp>\n" + clock, f"static_cast<void>({call});",
                                     "ask Res<T>::is_changed()")

    def test_a_relation_is_no_component(self):
        relation = ("#include <ouro/ecs/relations.hpp>\nstruct Owns {};\ntemplate <> inline constexpr "
                    "RelationOptions ouro::kRelationOptions<Owns> = {.sources = OnTargetGone::stay};")
        for statement in ("Query<Health&, With<ChildOf>>(world).count()",
                          "Query<Health&, Without<Owns>>(world).count()",
                          "world.spawn(Health{}, Owns{})", "world.add<ChildOf>(Entity())",
                          "world.at(3)->query<With<ChildOf>>().count()"):
            with self.subTest(statement):
                self.assert_rejected(relation, f"static_cast<void>({statement});", "a relation is no component")

    def test_constructors_and_private_fields(self):
        words = "leave out its constructors and private fields"
        self.assert_component_rejected("Bad(int v) : value(v) {} int value;", words)
        self.assert_component_rejected("int get() const { return value; } private: int value = 0;", words)

    def test_what_no_query_is_made_of(self):
        self.assert_query_rejected("Health", "a query is made of T&, const T&, Mut<T>")
        self.assert_query_rejected("Health*", "a query is made of T&, const T&, Mut<T>")

    def test_a_component_twice_in_a_query(self):
        for terms in ("Health&, Health&", "Health&, const Health&", "Mut<Health>, const Health&",
                      "const Health&, Entity, Optional<Health&>"):
            with self.subTest(terms):
                self.assert_query_rejected(terms, "hands out a component that is written once only")

    def test_names_are_not_written_by_queries(self):
        self.assert_rejected("#include <ouro/ecs/names.hpp>", "static_cast<void>(Query<Name&>(world).count());",
                             "written by their own functions")

    def test_what_no_system_is_given(self):
        for parameter in ("int", "Health&", "const Health&", "Health*", "const char*"):
            with self.subTest(parameter):
                self.assert_system_rejected(f"[]({parameter}) {{}}", "a system's parameters are Query<...>, Res<T>")

    def test_what_is_taken_in_the_wrong_way(self):
        for parameter in ("Query<Health&>&", "Res<Health>&", "Commands&", "World", "JobPool"):
            with self.subTest(parameter):
                self.assert_system_rejected(f"[]({parameter}) {{}}", "by value, without &; JobPool& and World& by")

    def test_a_system_that_does_not_say_its_parameters(self):
        self.assert_system_rejected("[](auto) {}", "write Query<...> instead of auto")

    def test_a_system_that_returns_something(self):
        self.assert_system_rejected("[](Commands) { return 5; }", "a system returns nothing")

    def test_the_past_is_not_written(self):
        self.assert_rejected("", "const auto past = world.at(3);\n"
                             "PastQuery<Health&>(*past).each([](Health&) {});", "past", is_alone=False)


if __name__ == "__main__":
    unittest.main()
