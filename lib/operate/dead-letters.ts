import { open } from 'node:fs/promises';
import { ago, count, facts, grid, moment } from 'terminal/grid.ts';
import { type Context, confirmed, type Report, resource } from './context.ts';
import { OperateError } from './errors.ts';
import { type Letter, letterBox, sendLetters } from './letters.ts';
import { shapeOf, subjectOf } from './subject.ts';

const summarize = ({ id, sentAt, receives, body }: Letter) => ({
  id,
  sentAt: sentAt.toISOString(),
  receives,
  bytes: Buffer.byteLength(body),
  ...subjectOf(body),
});

const isMeant =
  ({ flags }: Context) =>
  ({ id }: Letter): boolean =>
    flags.ids.length === 0 || flags.ids.includes(id);

const openBox = (context: Context, name: string) =>
  letterBox(context.clients.sqs, resource(context.place, 'deadLetters', name));

/** `dead-letters list`: receives letters, shows them and makes them visible again. */
export async function listLetters(context: Context, [name = '']: readonly string[]): Promise<Report> {
  const letters = await previewLetters(context, name);
  return { text: renderList(context, name, letters), data: { queue: name, letters: letters.map(summarize) } };
}

/** `dead-letters show`: shows a letter with the structure of its body. */
export async function showLetter(context: Context, [name = '', id = '']: readonly string[]): Promise<Report> {
  const letter = (await previewLetters(context, name)).find((one) => one.id === id);
  if (letter === undefined)
    throw new OperateError(`${name} has no letter ${id} among the first ${count(context.flags.max)}.`);
  const { type, ids, bytes } = summarize(letter);
  // EventBridge's attributes of a letter that it could not put into its queue.
  const said = Object.entries(letter.message.MessageAttributes ?? {}).map(
    ([attribute, { StringValue = '' }]) => [attribute, StringValue] as const,
  );
  const text = facts(
    [
      ['letter', letter.id],
      ['sent', moment(letter.sentAt)],
      ['receives', String(letter.receives)],
      ['event', type],
      ['about', ids.join(' ')],
      ['bytes', count(bytes)],
      ['made of', shapeOf(letter.body)],
      ...said,
    ],
    context.paint,
  );
  return {
    text,
    data: { ...summarize(letter), shape: shapeOf(letter.body), attributes: Object.fromEntries(said) },
  };
}

async function previewLetters(context: Context, name: string): Promise<Letter[]> {
  const box = openBox(context, name);
  const letters: Letter[] = [];
  try {
    for await (const batch of box.take(context.flags.max)) {
      letters.push(...batch);
      context.progress(`${count(letters.length)} letters`);
    }
  } finally {
    await box.giveBack(letters);
  }
  return letters.filter(isMeant(context)).sort((a, b) => a.sentAt.getTime() - b.sentAt.getTime());
}

function renderList({ paint, now, flags }: Context, name: string, letters: readonly Letter[]): string {
  if (letters.length === 0) return `  ${paint('green', '✓')} ${name} has no dead letters.`;
  const rows = letters.map((letter) => {
    const { id, sentAt, receives, type = '–', ids } = summarize(letter);
    return [id, ago(new Date(sentAt), now()), String(receives), type, ids.join(' ')];
  });
  const more = letters.length >= flags.max ? `\n\n  There may be more: --max ${flags.max * 10}` : '';
  return `${grid(['letter', 'age', 'receives', 'event', 'about'], rows, paint)}${more}`;
}

/**
 * `dead-letters redrive`: sends each letter before deleting it. An interrupted redrive duplicates a letter,
 * which its worker tolerates.
 */
export async function redriveLetters(context: Context, [name = '']: readonly string[]): Promise<Report> {
  const { place, clients } = context;
  resource(place, 'deadLetters', name);
  const target = place.queues.get(name);
  if (target === undefined)
    throw new OperateError(
      `The letters of ${name} have no queue to go back to: a function of the service processes them, or they can only be discarded.`,
    );
  if (!confirmed(context, `Letters of ${name} would be given back to its queue`))
    return preview(context, name, 'would be given back to its queue');
  const done = await handleMeantLetters(context, name, async (letters, box) => {
    const sent = await sendLetters(clients.sqs, target, letters);
    await box.remove(sent);
    return sent;
  });
  return result(context, name, 'given back to its queue', done);
}

/** `dead-letters discard`. */
export async function discardLetters(context: Context, [name = '']: readonly string[]): Promise<Report> {
  const { flags } = context;
  resource(context.place, 'deadLetters', name);
  if (!confirmed(context, `Letters of ${name} would be deleted for good`))
    return preview(context, name, 'would be deleted for good');
  const done = await handleMeantLetters(context, name, async (letters, box) => {
    if (flags.save !== undefined) await save(flags.save, letters);
    return box.remove(letters);
  });
  return result(context, name, 'deleted', done);
}

interface Done {
  done: Letter[];
  /** Rejected by the queues. */
  failed: number;
}

async function handleMeantLetters(
  context: Context,
  name: string,
  handleLetters: (letters: readonly Letter[], box: ReturnType<typeof letterBox>) => Promise<Letter[]>,
): Promise<Done> {
  const box = openBox(context, name);
  const done: Letter[] = [];
  const kept: Letter[] = [];
  let failed = 0;
  try {
    for await (const batch of box.take(context.flags.max)) {
      const meant = batch.filter(isMeant(context));
      kept.push(...batch.filter((letter) => !meant.includes(letter)));
      const handled = await handleLetters(meant, box);
      const left = meant.filter((letter) => !handled.includes(letter));
      failed += left.length;
      kept.push(...left);
      done.push(...handled);
      context.progress(`${count(done.length)} of ${name}`);
    }
  } finally {
    await box.giveBack(kept);
  }
  return { done, failed };
}

async function preview(context: Context, name: string, what: string): Promise<Report> {
  const letters = await previewLetters(context, name);
  return {
    text: `${renderList(context, name, letters)}\n\n  ${count(letters.length)} ${what}. Nothing was done.`,
    data: { queue: name, dryRun: true, letters: letters.map(summarize) },
  };
}

function result({ paint }: Context, name: string, what: string, { done, failed }: Done): Report {
  if (failed > 0)
    throw new OperateError(
      `${count(done.length)} letters of ${name} were ${what}; ${count(failed)} were not, and stay. Try again.`,
    );
  const oldest = done.map(({ sentAt }) => sentAt.getTime()).sort((a, b) => a - b)[0];
  const since = oldest === undefined ? '' : `, the oldest of ${moment(new Date(oldest))}`;
  return {
    text: `  ${paint('green', '✓')} ${count(done.length)} letters of ${name} were ${what}${since}.`,
    data: { queue: name, done: done.map(summarize) },
  };
}

/** Owner only: the file contains customer data. */
const PRIVATE = 0o600;

async function save(file: string, letters: readonly Letter[]): Promise<void> {
  const handle = await open(file, 'a', PRIVATE);
  try {
    const lines = letters.map(({ id, sentAt, body }) => `${JSON.stringify({ id, sentAt, body })}\n`);
    await handle.appendFile(lines.join(''));
    await handle.sync();
  } finally {
    await handle.close();
  }
}
