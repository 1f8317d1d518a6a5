import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, relative } from 'node:path';
import { paintFor } from 'terminal/paint.ts';
import { readArguments } from './arguments.ts';
import { endWhenInterrupted } from './measure/interruption.ts';
import { commitOf, describeMachine, loadOfMinute } from './measure/machine.ts';
import { compare } from './report/comparison.ts';
import type { BenchDocument, FinishedSection } from './report/document.ts';
import { renderBlock, renderComparison } from './report/table.ts';
import type { Bench } from './section.ts';
import { coldStart } from './sections/cold-start.ts';
import { cost } from './sections/cost.ts';
import { growth } from './sections/growth.ts';
import { handlers } from './sections/handlers.ts';
import { kill } from './sections/kill.ts';
import { latency } from './sections/latency.ts';
import { limit } from './sections/limit.ts';
import { profile } from './sections/profile.ts';
import { smoke } from './sections/smoke.ts';
import { start } from './sections/start.ts';
import { throughput } from './sections/throughput.ts';

/* Measures the speed and the cost of the service on this machine. It asserts nothing. */

const SECTIONS = [start, throughput, latency, limit, handlers, profile, coldStart, cost, growth, kill];
const ROOT = join(import.meta.dirname, '../..');

async function bench(): Promise<void> {
  const paint = paintFor(process.stdout);
  const dim = paintFor(process.stderr);
  const wanted = readArguments(process.argv.slice(2), SECTIONS);
  const begunAt = new Date();
  const loadAtBeginning = loadOfMinute();
  const file =
    wanted.out ??
    join(ROOT, '.local', `bench-${begunAt.toISOString().slice(0, 19).replaceAll(':', '')}.json`);
  mkdirSync(dirname(file), { recursive: true });
  const machine = describeMachine(loadAtBeginning);
  process.stdout.write(
    `\n  ${paint('bold', 'Benchmark')} of ${commitOf(ROOT)} on ${machine.cpus} x ${machine.model}, Node.js ${machine.node}, load ${machine.load.atBeginning}\n\n`,
  );

  const { runs, seconds, isFull, growthScale, isSmoke } = wanted;
  const results: Bench['found'] = {};
  const sections: FinishedSection[] = [];
  const chosen = isSmoke
    ? [smoke]
    : SECTIONS.filter(({ name }) => wanted.only.length === 0 || wanted.only.includes(name));
  const write = () => {
    const document: BenchDocument = {
      version: 1,
      begunAt: begunAt.toISOString(),
      endedAt: new Date().toISOString(),
      commit: commitOf(ROOT),
      machine: describeMachine(loadAtBeginning),
      arguments: process.argv.slice(2),
      sections,
    };
    writeFileSync(file, `${JSON.stringify(document, null, 1)}\n`);
    return document;
  };
  for (const section of chosen) {
    const began = performance.now();
    const elapsed = () => (performance.now() - began) / 1000;
    const blocks = await section.run({
      ...(runs === undefined ? {} : { runs }),
      ...(seconds === undefined ? {} : { seconds }),
      isFull,
      growthScale,
      isSmoke,
      found: results,
      progress: (text) =>
        process.stderr.write(
          `${dim('dim', `${elapsed().toFixed(0).padStart(6)} s  ${section.name.padEnd(12)}${text}`)}\n`,
        ),
      async keepFile(name, content) {
        const kept = join(dirname(file), `${parse(file).name}-${name}`);
        writeFileSync(kept, content);
        return relative(process.cwd(), kept);
      },
    });
    sections.push({ name: section.name, seconds: Number(elapsed().toFixed(1)), blocks });
    process.stdout.write(`${blocks.map((block) => renderBlock(block, paint)).join('\n')}\n`);
    // Earlier results stay when a later section fails.
    write();
  }
  const document = write();
  const { compare: earlier } = wanted;
  if (earlier !== undefined)
    process.stdout.write(`${renderComparison(compare(earlier, document), earlier, paint)}\n`);
  process.stdout.write(
    `  Written to ${relative(process.cwd(), file)}, load at the end ${document.machine.load.atEnd}\n\n`,
  );
}

endWhenInterrupted();
await bench();
