import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { ContentProblem } from './text.ts';

const MAX_ENTRIES = 1000;
const MAX_ENTRY_BYTES = 30 * 1024 * 1024;
const MAX_BYTES = 50 * 1024 * 1024;

/** Unpacked to packed size. Sheets with few distinct cells come near 100; a ratio over 1,000 is an attack. */
const MAX_RATIO = 300;
const SMALL_BYTES = 1024 * 1024;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

const invalid = () => new ContentProblem('the content is not a valid spreadsheet');
export const tooLarge = () => new ContentProblem('the spreadsheet is too large when it is unpacked');

/** An entry of an archive's directory; `size` is in bytes, unpacked. */
export interface PackedFile {
  name: string;
  size: number;
}

export interface Archive {
  readonly files: readonly PackedFile[];
  /**
   * Unpacks a file in chunks into the beginning of `target`.
   * @throws ContentProblem when it is damaged or encrypted, or its size differs from the directory
   */
  unpackInto(target: Uint8Array, file: PackedFile): Promise<void>;
}

/**
 * Opens a zip archive (APPNOTE.TXT 6.3.10) by its directory. Checks sizes before unpacking, and unpacks no
 * more than them.
 * @param isWanted selects files by name
 * @throws ContentProblem when it is damaged, or larger than a spreadsheet may be
 */
export async function openArchive(
  archive: Uint8Array,
  isWanted: (name: string) => boolean,
): Promise<Archive> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true });
    if (zip.entryCount > MAX_ENTRIES) throw tooLarge();
    const entries = new Map<PackedFile, Entry>();
    let total = 0;
    for await (const entry of zip.eachEntry()) {
      const { fileName: name, compressedSize, uncompressedSize: size } = entry;
      total += size;
      if (size > MAX_ENTRY_BYTES || total > MAX_BYTES) throw tooLarge();
      if (size > SMALL_BYTES && size > MAX_RATIO * compressedSize) throw tooLarge();
      if (isWanted(name)) entries.set({ name, size }, entry);
    }
    const files = [...entries.keys()];
    // Refuse duplicate names: readers differ in which of the files they read.
    if (new Set(files.map(({ name }) => name)).size < files.length) throw invalid();
    return {
      files,
      async unpackInto(target, file) {
        const entry = entries.get(file);
        if (entry === undefined) throw invalid();
        try {
          await unpack(zip, entry, target);
        } catch (error) {
          throw toContentProblem(error);
        }
      },
    };
  } catch (error) {
    throw toContentProblem(error);
  }
}

/** Errors of the library mean that the archive is damaged. */
const toContentProblem = (error: unknown): ContentProblem =>
  error instanceof ContentProblem ? error : invalid();

/** The library refuses encrypted entries, and entries whose size differs from the directory. */
async function unpack(zip: ZipFile, entry: Entry, target: Uint8Array): Promise<void> {
  if (!entry.canDecodeFileData()) throw invalid();
  let filled = 0;
  for await (const piece of await zip.openReadStreamPromise(entry)) {
    target.set(piece, filled);
    filled += piece.length;
  }
}

/**
 * Builds an archive of uncompressed files, so that the parser reads exactly what was checked. Unpacks each
 * file into its place, so that memory holds only the archive.
 * @param write writes the content of a file
 */
export async function zipStored<F extends PackedFile>(
  files: readonly F[],
  write: (target: Uint8Array, file: F) => Promise<void>,
): Promise<ArrayBuffer> {
  const named = files.map((file) => ({ file, nameBytes: Buffer.from(file.name) }));
  const total = named.reduce(
    (sum, { file, nameBytes }) => sum + LOCAL_BYTES + CENTRAL_BYTES + 2 * nameBytes.length + file.size,
    END_BYTES,
  );
  const archive = Buffer.from(new ArrayBuffer(total));
  let at = 0;
  const directory: Buffer[] = [];
  for (const { file, nameBytes } of named) {
    const content = archive.subarray(at + LOCAL_BYTES + nameBytes.length).subarray(0, file.size);
    await write(content, file);
    archive.writeUInt32LE(LOCAL, at);
    // Both headers share the fields from "version needed to extract" to "extra field length".
    const common = archive.subarray(at + 4, at + LOCAL_BYTES);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(file.size, 14);
    common.writeUInt32LE(file.size, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    archive.set(nameBytes, at + LOCAL_BYTES);

    const entry = Buffer.alloc(CENTRAL_BYTES);
    entry.writeUInt32LE(CENTRAL, 0);
    entry.writeUInt16LE(20, 4);
    entry.set(common, 6);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, nameBytes);
    at += LOCAL_BYTES + nameBytes.length + file.size;
  }
  const directoryAt = at;
  for (const part of directory) {
    archive.set(part, at);
    at += part.length;
  }
  archive.writeUInt32LE(END, at);
  archive.writeUInt16LE(files.length, at + 8);
  archive.writeUInt16LE(files.length, at + 10);
  archive.writeUInt32LE(at - directoryAt, at + 12);
  archive.writeUInt32LE(directoryAt, at + 16);
  return archive.buffer as ArrayBuffer;
}
