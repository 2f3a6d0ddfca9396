// The limits of the memory that a module imports. The linker wrote them into the module; JavaScript has no
// call that tells them, so this reads the import section.

const IMPORT_SECTION = 2;
const KIND_FUNCTION = 0;
const KIND_TABLE = 1;
const KIND_MEMORY = 2;
const KIND_GLOBAL = 3;

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  byte() {
    return this.bytes[this.at++];
  }
  // An unsigned number in LEB128, 7 bits a byte.
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
  skip(count) {
    this.at += count;
  }
  skipName() {
    this.skip(this.number());
  }
  limits() {
    const flags = this.byte();
    const initial = this.number();
    return { initial, maximum: flags & 1 ? this.number() : undefined, shared: (flags & 2) !== 0 };
  }
}

function memoryInImports(reader) {
  const count = reader.number();
  for (let i = 0; i < count; ++i) {
    reader.skipName();
    reader.skipName();
    switch (reader.byte()) {
      case KIND_FUNCTION:
        reader.number();
        break;
      case KIND_TABLE:
        reader.byte();
        reader.limits();
        break;
      case KIND_MEMORY:
        return reader.limits();
      case KIND_GLOBAL:
        reader.skip(2);
        break;
      default:
        throw new Error('an import of an unknown kind');
    }
  }
  return undefined;
}

// Returns { initial, maximum, shared } in pages of 64 KiB; throws if the module imports no shared memory.
export function importedMemoryLimits(bytes) {
  const reader = new Reader(bytes);
  reader.skip(8); // magic and version
  while (reader.at < bytes.length) {
    const section = reader.byte();
    const size = reader.number();
    if (section !== IMPORT_SECTION) {
      reader.skip(size);
      continue;
    }
    const limits = memoryInImports(reader);
    if (limits?.shared) return limits;
    break;
  }
  throw new Error('the module does not import a shared memory: link it with the wasm preset');
}
