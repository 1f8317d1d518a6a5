import { readFileSync } from 'node:fs';
import { refuse } from 'terminal/command-line.ts';
import * as z from 'zod';
import type { Block } from '../figure.ts';

const FigureShape = z.object({
  subject: z.string(),
  measure: z.string(),
  unit: z.enum(['ms', 's', '/s', 'x', 'units', 'requests', 'records', 'bytes', 'KiB', 'MiB', 'USD', 'count']),
  better: z.enum(['less', 'more', 'neither']),
  exact: z.boolean(),
  runs: z.int(),
  median: z.number(),
  spread: z.object({
    value: z.number(),
    is: z.enum(['half the interquartile range', 'half the range', 'one run']),
  }),
  values: z.array(z.number()),
});

/** The results of a benchmark, as its file has them. */
export const BenchDocument = z.object({
  version: z.literal(1),
  /** ISO 8601. */
  begunAt: z.string(),
  endedAt: z.string(),
  /** With a `+` where files differed from it. */
  commit: z.string(),
  machine: z.object({
    cpus: z.int(),
    model: z.string(),
    memoryMiB: z.number(),
    node: z.string(),
    load: z.object({ atBeginning: z.number(), atEnd: z.number() }),
  }),
  /** The command line. */
  arguments: z.array(z.string()),
  sections: z.array(
    z.object({
      name: z.string(),
      seconds: z.number(),
      blocks: z.array(
        z.object({ title: z.string(), figures: z.array(FigureShape), notes: z.array(z.string()).optional() }),
      ),
    }),
  ),
});
export type BenchDocument = Omit<z.output<typeof BenchDocument>, 'sections'> & {
  sections: FinishedSection[];
};

export interface FinishedSection {
  name: string;
  /** Its duration. */
  seconds: number;
  blocks: Block[];
}

/** The value of `--compare`: refused when the file is missing, or has another format. */
export function readBenchDocument(file: string): BenchDocument {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return refuse('a file that can be read');
  }
  try {
    return BenchDocument.parse(JSON.parse(text)) as BenchDocument;
  } catch {
    return refuse('a file that this benchmark wrote');
  }
}
