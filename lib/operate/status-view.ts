import { ago, count, facts, grid, moment } from 'terminal/grid.ts';
import type { Paint } from 'terminal/paint.ts';
import { type Attention, type Due, IN_FLIGHT_LIMIT, type State } from './state.ts';

export function renderStatus(state: State, attention: readonly Attention[], now: Date, paint: Paint): string {
  const { queues, deadLetters, due, sources, purges, keyrings } = state;
  const heading = (text: string) => `  ${paint('bold', text)}`;
  return [
    `  ${paint('bold', state.place)}   ${paint('dim', moment(state.at))}`,
    '',
    grid(
      ['queue', 'waiting', 'in flight', 'of limit', 'held back'],
      queues.map(({ name, visible, inFlight, delayed }) => [
        name,
        count(visible),
        count(inFlight),
        share(inFlight, paint),
        count(delayed),
      ]),
      paint,
    ),
    '',
    grid(
      ['dead letters', 'messages', ''],
      deadLetters.map(({ name, messages, returns }) => [
        name,
        messages === 0 ? '0' : paint(returns ? 'yellow' : 'red', count(messages)),
        messages === 0 ? '' : returns ? 'a function processes them' : `dead-letters list ${name}`,
      ]),
      paint,
    ),
    '',
    heading('Due now'),
    facts(
      [
        ['parked retries', dueText(due.parked, now)],
        ['lost messages', dueText(due.watched, now)],
        ['checks of sources', dueText(sources, now)],
        [
          'purges',
          purges.oldestAt
            ? `${count(purges.open)}, the oldest since ${ago(new Date(purges.oldestAt), now)}`
            : '0',
        ],
      ],
      paint,
    ),
    '',
    heading('Keys'),
    facts(
      keyrings.map(
        ({ keyring, current, versions }) =>
          [keyring, `current ${current}, has ${versions.join(', ')}`] as const,
      ),
      paint,
    ),
    '',
    attention.length === 0
      ? `  ${paint('green', '✓')} All healthy.`
      : attention
          .map(
            ({ what, page }) => `  ${paint('red', '✗')} ${what}   ${paint('dim', `docs/runbooks/${page}`)}`,
          )
          .join('\n'),
  ].join('\n');
}

function share(inFlight: number, paint: Paint): string {
  const part = inFlight / IN_FLIGHT_LIMIT;
  const text = `${(part * 100).toFixed(1)}%`;
  return part >= 0.5 ? paint('red', text) : part >= 0.25 ? paint('yellow', text) : text;
}

const dueText = ({ count: number, more, oldestAt }: Due, now: Date): string =>
  oldestAt === undefined
    ? '0'
    : `${count(number)}${more ? ' and more' : ''}, the oldest since ${ago(new Date(oldestAt), now)}`;
