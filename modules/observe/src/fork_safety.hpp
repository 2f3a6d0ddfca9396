#pragma once

// What each part of the module does around a fork, so that the child finds no lock held by a thread that it
// does not have.
namespace ouro::detail {

// Once, from the first who needs it; later calls do nothing.
void watch_forks_of_ledger() noexcept;

void hold_image_for_fork() noexcept;
void resume_image() noexcept;
void hold_default_tags_for_fork() noexcept;
void resume_default_tags() noexcept;
void hold_shards_for_fork() noexcept;
void resume_shards() noexcept;
void resume_shards_in_child() noexcept;
void hold_accounts_for_fork() noexcept;
void resume_accounts() noexcept;
void resume_accounts_in_child() noexcept;

}  // namespace ouro::detail
