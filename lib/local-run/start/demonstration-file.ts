import { readFile } from 'node:fs/promises';
import { PRIVATE, replaceFile } from 'terminal/files.ts';
import { z } from 'zod';
import type { KeptDemonstration } from './demonstration.ts';

const Stored = z.object({
  id: z.string(),
  secret: z.string(),
  port: z.int(),
  organization: z.object({ id: z.string(), apiKey: z.string() }),
});

/** Reads what an earlier start kept; undefined when there is nothing, or the file is not readable. */
export async function readDemonstrationFile(file: string): Promise<KeptDemonstration | undefined> {
  try {
    return Stored.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

export const writeDemonstrationFile = (file: string, kept: KeptDemonstration): Promise<void> =>
  replaceFile(file, `${JSON.stringify(kept)}\n`, PRIVATE);
