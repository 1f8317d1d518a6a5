import { readFile } from 'node:fs/promises';
import { PRIVATE, replaceFile } from 'aws-local/files.ts';
import { z } from 'zod';
import type { DemonstrationEndpoint } from './demonstration.ts';

const Stored = z.object({ id: z.string(), secret: z.string() });

/** Reads the endpoint of an earlier start; undefined when there is none, or the file is not readable. */
export async function readDemonstrationFile(file: string): Promise<DemonstrationEndpoint | undefined> {
  try {
    return Stored.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

export const writeDemonstrationFile = (file: string, endpoint: DemonstrationEndpoint): Promise<void> =>
  replaceFile(file, `${JSON.stringify(endpoint)}\n`, PRIVATE);
