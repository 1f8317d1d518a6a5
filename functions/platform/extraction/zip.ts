import { crc32, inflateRawSync } from 'node:zlib';
import { ContentProblem } from './problem.ts';

const MAX_ENTRIES = 1000;
const MAX_ENTRY_BYTES = 30 * 1024 * 1024;
const MAX_BYTES = 50 * 1024 * 1024;

/** Sheets of the same few cells come near 100; beyond 1000 is nothing but what was made to. */
const MAX_RATIO = 300;
const SMALL_BYTES = 1024 * 1024;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const STORED = 0;
const DEFLATED = 8;

interface Entry {
  name: string;
  flags: number;
  method: number;
  packed: number;
  size: number;
  offset: number;
}

const invalid = () => new ContentProblem('the content is not a valid spreadsheet');
const tooLarge = () => new ContentProblem('the spreadsheet is too large when it is unpacked');

/**
 * Unpacks files of a zip archive (APPNOTE.TXT 6.3.10), by its directory alone. Sizes are judged by what the directory says before anything is unpacked, and nothing is
 * unpacked beyond what it says.
 * @param wanted by their names; others are left packed
 * @throws ContentProblem when it is damaged, encrypted, or larger than a spreadsheet is
 */
export function unzip(archive: Uint8Array, wanted: (name: string) => boolean): Map<string, Uint8Array> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  try {
    const entries = directoryOf(bytes);
    checkSizes(entries);
    const files = new Map<string, Uint8Array>();
    for (const entry of entries) {
      if (!wanted(entry.name)) continue;
      // Which of two would be read depends on who reads.
      if (files.has(entry.name)) throw invalid();
      files.set(entry.name, unpack(bytes, entry));
    }
    return files;
  } catch (error) {
    // Read beyond the end, or not to be inflated.
    throw error instanceof ContentProblem ? error : invalid();
  }
}

function directoryOf(bytes: Buffer): Entry[] {
  const from = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  const end = bytes.lastIndexOf(Uint8Array.of(0x50, 0x4b, 5, 6));
  if (end < from || bytes.readUInt32LE(end) !== END) throw invalid();
  const count = bytes.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw tooLarge();

  const entries: Entry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (bytes.readUInt32LE(at) !== CENTRAL) throw invalid();
    const nameLength = bytes.readUInt16LE(at + 28);
    entries.push({
      flags: bytes.readUInt16LE(at + 8),
      method: bytes.readUInt16LE(at + 10),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
      name: bytes.toString('utf8', at + 46, at + 46 + nameLength),
    });
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function checkSizes(entries: Entry[]): void {
  let total = 0;
  for (const { packed, size } of entries) {
    total += size;
    if (size > MAX_ENTRY_BYTES || total > MAX_BYTES) throw tooLarge();
    if (size > SMALL_BYTES && size > MAX_RATIO * packed) throw tooLarge();
  }
}

function unpack(bytes: Buffer, { flags, method, packed, size, offset }: Entry): Uint8Array {
  const isEncrypted = (flags & 1) === 1;
  if (isEncrypted || bytes.readUInt32LE(offset) !== LOCAL) throw invalid();
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  if (start + packed > bytes.length) throw invalid();
  const data = bytes.subarray(start, start + packed);

  if (method !== STORED && method !== DEFLATED) throw invalid();
  const file = method === STORED ? data : inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  if (file.length !== size) throw invalid();
  return file;
}

/** An archive of these files, none of them packed: for a reader that shall see what was checked, and not unpack again on its own. */
export function zipStored(files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, file] of files) {
    const nameBytes = Buffer.from(name);
    // From the version that is needed to the length of the extra field, the same in both headers.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt32LE(crc32(file), 10);
    common.writeUInt32LE(file.length, 14);
    common.writeUInt32LE(file.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    parts.push(uint32(LOCAL), common, nameBytes, file);

    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(uint32(CENTRAL), Uint8Array.of(20, 0), common, rest, nameBytes);
    offset += 30 + nameBytes.length + file.length;
  }

  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(
    directory.reduce((total, { length }) => total + length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...parts, ...directory, end]));
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
