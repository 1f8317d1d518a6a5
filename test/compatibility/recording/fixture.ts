import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keyring } from '../../../functions/aws/keyrings.ts';
import type { GivenOut } from './customer.ts';
import type { SentMessage } from './proxy.ts';
import type { TableRows } from './rows.ts';

export const FIXTURES = join(import.meta.dirname, '../fixtures');

/** The state that a version of the code has stored at one moment. */
export interface Fixture {
  /** How it was recorded. */
  made: {
    commit: string;
    committedAt: string;
    recordedAt: string;
    by: string;
    settings: Record<string, string>;
  };
  tables: TableRows;
  messages: SentMessage[];
  given: GivenOut[];
  /** The keys of cursors and visitor tokens, from a local run that has been deleted. */
  cursorKeys: Keyring;
}

/** JSON has no form for binary attributes. */
interface Bytes {
  $bytes: string;
}

export const written = (fixture: Fixture): string =>
  `${JSON.stringify(
    fixture,
    (_, value: unknown) =>
      value instanceof Uint8Array
        ? ({ $bytes: Buffer.from(value).toString('base64') } satisfies Bytes)
        : isSerializedBuffer(value)
          ? ({ $bytes: Buffer.from(value.data).toString('base64') } satisfies Bytes)
          : value,
    1,
  )}\n`;

/** The result of `toJSON`, which `JSON.stringify` calls on a buffer before the replacer. */
const isSerializedBuffer = (value: unknown): value is { data: number[] } =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  value.type === 'Buffer' &&
  'data' in value;

const read = (text: string): Fixture =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === 'object' && value !== null && '$bytes' in value
      ? new Uint8Array(Buffer.from(String(value.$bytes), 'base64'))
      : value,
  ) as Fixture;

/** All fixtures, those of the earliest version first. */
export function fixtures(): { name: string; version: string; fixture: Fixture }[] {
  return readdirSync(FIXTURES)
    .toSorted()
    .flatMap((version) =>
      readdirSync(join(FIXTURES, version)).map((file) => ({
        name: `${version}/${file.replace('.json', '')}`,
        version,
        fixture: read(readFileSync(join(FIXTURES, version, file), 'utf8')),
      })),
    );
}
