import { randomInt } from 'node:crypto';
import { among, commandLine, wholeNumber } from 'terminal/command-line.ts';
import { connect } from '../support/exchange.ts';
import { startService } from '../support/service.ts';
import { aTenant } from '../support/tenant.ts';
import { campaign, describeFinding, type Finding, type Target } from './campaign.ts';
import { conformance } from './conformance.ts';
import { type Operation, readDocument } from './document.ts';

/** Operations in progress at once: the functions have few execution environments. */
const AT_ONCE = 3;

const document = readDocument();
const {
  requests,
  seed = randomInt(2 ** 31),
  operation,
} = commandLine(
  'npm run fuzz --',
  'Sends generated requests to every operation of docs/openapi/v1.json and of the dashboard, in a service of its own on this machine, and checks every answer against the document. Ends with 1 when an answer is not what the document promises.',
)
  .option('--requests <n>', 'how many altogether', wholeNumber(1, 9_999_999_999), 10_000)
  .option('--seed <n>', 'repeats an earlier run (random)', wholeNumber(0, 9_999_999_999))
  .option('--operation <id>', 'only this operation', among(document.operations.map(({ id }) => id)))
  .parse()
  .opts();

const print = (text: string) => process.stdout.write(text);

async function main(): Promise<number> {
  const chosen = document.operations.filter(({ id }) => [undefined, id].includes(operation));
  print(`\n  ${requests} requests to ${chosen.length} operations, seed ${seed}\n`);
  const service = await startService();
  const connection = connect(service.url);
  const stranger = await aTenant(service);
  try {
    const target = { service, connection, conforms: conformance(document), stranger };
    return report(await runAll(chosen, target, { requests, seed }));
  } finally {
    stranger.close();
    connection.close();
    await service.stop();
  }
}

interface Outcome {
  /** Answers by operation and status. */
  counts: Map<string, Map<number, number>>;
  findings: Finding[];
}

async function runAll(
  operations: readonly Operation[],
  target: Target,
  { requests, seed }: { requests: number; seed: number },
): Promise<Outcome> {
  const counts = new Map(operations.map(({ id }) => [id, new Map<number, number>()]));
  const findings: Finding[] = [];
  const startedAt = performance.now();
  let sent = 0;
  const waiting = operations.map((operation, index) => ({
    operation,
    // The first ones take the remainder.
    share: Math.floor(requests / operations.length) + (index < requests % operations.length ? 1 : 0),
  }));
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { operation, share } = next;
      if (share === 0) continue;
      const of = counts.get(operation.id);
      const finding = await campaign(operation, target, {
        requests: share,
        seed,
        onAnswer({ status }) {
          of?.set(status, (of.get(status) ?? 0) + 1);
          sent += 1;
          if (sent % 100 === 0) progress(sent, requests, startedAt);
        },
      });
      if (finding !== undefined) findings.push(finding);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  progress(sent, requests, startedAt);
  return { counts, findings };
}

function progress(sent: number, requests: number, startedAt: number): void {
  const perSecond = Math.round(sent / ((performance.now() - startedAt) / 1000));
  print(`${process.stdout.isTTY ? '\r' : '\n'}  ${sent} of ${requests}, ${perSecond} a second`);
}

function report({ counts, findings }: Outcome): number {
  const statuses = [...new Set([...counts.values()].flatMap((of) => [...of.keys()]))].sort();
  const row = (name: string, cells: readonly (string | number)[]) =>
    print(`  ${name.padEnd(22)}${cells.map((cell) => String(cell).padStart(7)).join('')}\n`);
  print('\n\n');
  row('', statuses);
  for (const [id, of] of counts)
    row(
      id,
      statuses.map((status) => of.get(status) ?? ''),
    );
  for (const finding of findings) print(`\n${describeFinding(finding)}\n`);
  print(
    findings.length === 0
      ? '\n  Every answer was as documented.\n\n'
      : `\n  ${findings.length} operations answered otherwise.\n\n`,
  );
  return findings.length === 0 ? 0 : 1;
}

process.exitCode = await main();
