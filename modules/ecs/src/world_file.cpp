#include "world_audit.hpp"
#include "world_loader.hpp"
#include "world_schema.hpp"

#include <ouro/ecs/world_file.hpp>
#include <ouro/ecs/world_reader.hpp>
#include <ouro/os/file_input.hpp>
#include <ouro/streams/saved_image.hpp>

#include <algorithm>
#include <array>

namespace ouro {
namespace {

using detail::SchemaPlan;
using detail::WorldLoader;
using detail::WorldSchema;

constexpr std::string_view kOtherPlace = "was saved from a segment of another place or size";
constexpr std::string_view kTooManyArchetypes = "was saved with room for more archetypes than there is here";

Status refuse(const WorldLoadOptions& options, std::string_view reason) noexcept {
    if (options.problem != nullptr) {
        *options.problem = {.component = "the world", .field = {}, .reason = reason, .layout = {}};
    }
    return Status::wrong_layout;
}

// The bytes become the world, or nothing has changed.
Expected<Tick> put(World& world, std::string_view segment, const WorldReader& saved, SchemaPlan& plan,
                   std::span<const std::byte> bytes) noexcept {
    const auto before = world.commit();
    if (!before) return before;
    WorldLoader loader(world.core(), segment);
    loader.copy(bytes.subspan(static_cast<std::size_t>(saved.segment_offset()),
                              static_cast<std::size_t>(saved.segment_bytes())));
    Status status = loader.adopt();
    if (status == Status::ok && plan.changes_anything()) status = loader.convert(plan);
    if (status == Status::ok) status = world.check();
    if (status == Status::ok) {
        const auto tick = world.ring().commit();
        if (tick) return tick;
        status = tick.status();
    }
    if (const auto undone = world.ring().rollback(*before); !undone) return undone.status();
    const Status back = loader.adopt();
    return back == Status::ok ? status : back;
}

}  // namespace

std::string_view describe_problem(const WorldLoadProblem& problem, std::span<char> text) noexcept {
    if (text.empty()) return {};
    std::size_t used = 0;
    const auto add = [&](std::string_view part) {
        const std::size_t count = std::min(part.size(), text.size() - 1 - used);
        std::copy_n(part.data(), count, text.data() + used);
        used += count;
    };
    add(problem.component);
    if (problem.layout.version != 0) {
        std::array<char, 120> layout;
        add(" ");
        add(describe_layout(problem.layout, layout));
    }
    if (!problem.field.is_empty()) add(".");
    add(problem.field);
    if (!problem.reason.empty()) add(" ");
    add(problem.reason);
    text[used] = '\0';
    return {text.data(), used};
}

Expected<ImageInfo> save_world(const World& world, const char* path, ImageCodec codec) noexcept {
    const auto view = world.ring().view(world.ring().newest());
    if (!view) return view.status();
    return save_image(*view, path, codec);
}

Expected<ImageInfo> save_world(const PastWorld& past, const char* path, ImageCodec codec) noexcept {
    return save_image(past.view(), path, codec);
}

Expected<ImageInfo> write_world(const PastWorld& past, ImageSink sink, ImageCodec codec) noexcept {
    return write_image(past.view(), sink, codec);
}

Expected<Tick> read_world(World& world, ImageSource source, const WorldLoadOptions& options) noexcept {
    if (options.problem != nullptr) *options.problem = {};
    const auto image = SavedImage::read(source);
    if (!image) return image.status();
    const std::string_view segment = world.segment();
    LayoutFound found;
    const auto saved = WorldReader::open(image->bytes(), segment, &found);
    if (!saved) {
        if (options.problem != nullptr) {
            options.problem->component = "the world";
            if (found.version != 0 && !found.is_known()) options.problem->layout = found;
        }
        return saved.status();
    }
    // All of it is known to be sound before anything is touched.
    if (const Status status = detail::audit_world(*saved, image->bytes()); status != Status::ok)
        return status;
    const MemoryBlock live = world.ring().image();
    const auto here = WorldReader::open(std::span<const std::byte>(live.data, live.size), segment);
    if (!here) return here.status();
    if (saved->segment_offset() != here->segment_offset() || saved->segment_bytes() != here->segment_bytes())
        return refuse(options, kOtherPlace);
    if (saved->header().max_archetypes > WorldLoader(world.core(), segment).max_archetypes())
        return refuse(options, kTooManyArchetypes);
    const auto then = WorldSchema::read(*saved);
    if (!then) return then.status();
    const auto today = WorldSchema::read(*here);
    if (!today) return today.status();
    SchemaPlan plan(*then, *today, options);
    if (const Status status = plan.make(); status != Status::ok) return status;
    return put(world, segment, *saved, plan, image->bytes());
}

Expected<Tick> load_world(World& world, const char* path, const WorldLoadOptions& options) noexcept {
    auto file = os::FileInput::open(path);
    if (!file) return file.status();
    const auto read = [](void* context, std::uint64_t offset, std::span<std::byte> out) noexcept {
        return static_cast<const os::FileInput*>(context)->read_at(offset, out);
    };
    return read_world(world, {.read_at = read, .context = &*file}, options);
}

}  // namespace ouro
