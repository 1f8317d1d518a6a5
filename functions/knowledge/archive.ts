import sniffEncoding from 'html-encoding-sniffer';
import { Parser } from 'htmlparser2';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { countReplaced } from './decode.ts';
import { ContentProblem } from './text.ts';

/** Far more than a workbook has. Each takes memory before anything is unpacked. */
const MAX_ENTRIES = 10_000;

/** Unpacked bytes of all parts that are read, each time that one is read. */
const MAX_BYTES = 50 * 1024 * 1024;

/** Elements of all parts that are read. A million cells have two to four million. */
const MAX_ELEMENTS = 5_000_000;

/** Far more than a sheet has. */
const MAX_DEPTH = 200;

/** Called for each event of an XML document, with names without their prefix. */
export interface XmlHandlers {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Reference from one part of an Office document to another (ECMA-376, part 2). */
export interface Relation {
  id: string;
  /** Last segment of the type, such as `worksheet`, which the strict and the usual namespace share. */
  type: string;
  /** Path of the target. */
  path: string;
}

export interface Archive {
  /** Path of the first part that matches. */
  find(path: RegExp): string | undefined;
  /**
   * Parses a part, without holding it in memory. Reads XML that is not well-formed as far as possible, and
   * expands no declared entities.
   * @returns how many characters were not valid in the part's encoding
   * @throws ContentProblem when all parts that were read are too large
   * @throws Error when the part is missing, damaged or encrypted, or not complete
   */
  readXml(path: string, handlers: XmlHandlers): Promise<number>;
}

export const invalid = () => new ContentProblem('the content is not a valid spreadsheet');
export const tooLarge = () => new ContentProblem('the spreadsheet is too large when it is unpacked');

/**
 * Opens a zip archive (APPNOTE.TXT 6.3.10) by its directory. Names are compared as Office does: without case,
 * with either slash.
 * @throws ContentProblem when its directory is damaged
 */
export async function openArchive(packed: Uint8Array): Promise<Archive> {
  const entries = new Map<string, Entry>();
  let zip: ZipFile;
  try {
    // The library would reject names that no reader of a single part needs to fear, such as "../a".
    zip = await fromBufferPromise(cutAfterEnd(packed), { lazyEntries: true, decodeStrings: false });
    if (zip.entryCount > MAX_ENTRIES) throw tooLarge();
    for await (const entry of zip.eachEntry()) entries.set(toKey(entry.fileNameRaw.toString()), entry);
  } catch (error) {
    throw error instanceof ContentProblem ? error : invalid();
  }

  let unpacked = 0;
  let elements = 0;
  const countElement = () => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw tooLarge();
  };
  return {
    find: (path) => [...entries.keys()].find((key) => path.test(key)),
    async readXml(path, handlers) {
      const entry = entries.get(toKey(path));
      if (entry === undefined || !entry.canDecodeFileData()) throw new Error('the part cannot be read');
      unpacked += entry.uncompressedSize;
      if (unpacked > MAX_BYTES) throw tooLarge();
      // The library fails when the part is longer or shorter than the directory says.
      return parseXml(await zip.openReadStreamPromise(entry), handlers, countElement);
    },
  };
}

const toKey = (name: string): string => name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();

const END = Buffer.from('PK\u0005\u0006');
const END_BYTES = 22;

/** Cuts off bytes after the end of an archive, which some servers append. */
function cutAfterEnd(packed: Uint8Array): Buffer {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const end = bytes.lastIndexOf(END);
  if (end < 0 || end + END_BYTES > bytes.length) return bytes;
  return bytes.subarray(0, end + END_BYTES + bytes.readUInt16LE(end + 20));
}

async function parseXml(
  pieces: AsyncIterable<Uint8Array>,
  handlers: XmlHandlers,
  countElement: () => void,
): Promise<number> {
  let depth = 0;
  let isComplete = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        countElement();
        depth += 1;
        // Deeper stacks make each closing tag slow.
        if (depth > MAX_DEPTH) throw new Error('the part is nested too deeply');
        handlers.open(withoutPrefix(name), attributes);
      },
      ontext: (text) => handlers.text?.(text),
      onclosetag(name, isImplied) {
        depth -= 1;
        isComplete = depth === 0 && !isImplied;
        handlers.close?.(withoutPrefix(name));
      },
    },
    { xmlMode: true },
  );

  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let replaced = 0;
  const write = (text: string) => {
    replaced += countReplaced(text);
    parser.write(text);
  };
  for await (const piece of pieces) {
    decoder ??= new TextDecoder(sniffEncoding(piece, { xml: true, defaultEncoding: 'UTF-8' }) ?? 'utf-8');
    write(decoder.decode(piece, { stream: true }));
  }
  if (decoder !== undefined) write(decoder.decode());
  parser.end();
  if (!isComplete) throw new Error('the part has no end, or no element');
  return replaced;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Reads the references of a part, or of the whole document for the path ''; none when they are missing. */
export async function readRelations(archive: Archive, path: string): Promise<Relation[]> {
  const base = path.lastIndexOf('/') + 1;
  const relations: Relation[] = [];
  await archive
    .readXml(`${path.slice(0, base)}_rels/${path.slice(base)}.rels`, {
      open(name, { Id: id = '', Type: type = '', Target: target = '' }) {
        if (name !== 'Relationship') return;
        relations.push({ id, type: type.slice(type.lastIndexOf('/') + 1), path: resolvePath(path, target) });
      },
    })
    .catch(ignoreDamage);
  return relations;
}

function resolvePath(from: string, target: string): string {
  const segments = target.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const segment of target.split('/'))
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  return segments.join('/');
}

/** Handles a part that could not be read, unless a limit was exceeded. */
export function ignoreDamage(error: unknown): undefined {
  if (error instanceof ContentProblem || error instanceof RangeError) throw error;
}
