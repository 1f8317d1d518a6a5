import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE, readIfPresent, replaceFile } from '../files.ts';
import type { SentMail } from './mail.ts';
import { fromMime, toMime } from './mime.ts';

/** `<time>-<id>.eml`, the time in ISO 8601 without what file systems do not take. */
const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z-[\w-]+\.eml$/;

/** What was sent by e-mail here: each message in a file of its own, which mail clients open. */
export interface Mailbox {
  add(mail: SentMail): Promise<void>;
  /** Names of the messages, newest first. */
  names(): Promise<string[]>;
  /** Undefined where there is none of that name. */
  read(name: string): Promise<{ mail: SentMail; source: string } | undefined>;
}

/** @param directory the messages are in `mailbox` below it */
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

/** The folder comes with the first message. */
function noEntries(error: unknown): string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}
