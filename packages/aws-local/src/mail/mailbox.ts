import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE, readIfPresent, replaceFile } from 'terminal/files.ts';
import type { SentMail } from './mail.ts';
import { fromMime, toMime } from './mime.ts';

/** `<time>-<id>.eml`, with ISO 8601 time in characters that file systems allow. */
const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z-[\w-]+\.eml$/;

/** Sent e-mail: one file per message, which mail clients open. */
export interface Mailbox {
  add(mail: SentMail): Promise<void>;
  /** Newest first. */
  names(): Promise<string[]>;
  /** Undefined if there is no such message. */
  read(name: string): Promise<{ mail: SentMail; source: string } | undefined>;
}

/** @param directory parent of `mailbox` */
export function openMailbox(directory: string): Mailbox {
  const folder = join(directory, 'mailbox');
  return {
    async add(mail) {
      await mkdir(folder, { recursive: true });
      const file = join(folder, `${mail.at.toISOString().replaceAll(/[:.]/g, '-')}-${mail.id}.eml`);
      await replaceFile(file, toMime(mail), PRIVATE);
    },
    async names() {
      const entries = await readdir(folder).catch(noEntries);
      return entries.filter((name) => NAME.test(name)).sort((a, b) => (a < b ? 1 : -1));
    },
    async read(name) {
      const [, day, hours, minutes, seconds, milliseconds] = NAME.exec(name) ?? [];
      if (day === undefined) return undefined;
      const source = await readIfPresent(join(folder, name));
      const mail = source === undefined ? undefined : fromMime(source);
      if (source === undefined || !mail) return undefined;
      return {
        source,
        mail: { ...mail, at: new Date(`${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`) },
      };
    },
  };
}

/** The first message creates the folder. */
function noEntries(error: unknown): string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}
