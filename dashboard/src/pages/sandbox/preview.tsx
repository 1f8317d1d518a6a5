import { Table } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { format, t } from '../../text/language.ts';
import { type PlannedAttempt, planOf } from './plan.ts';
import type { Program } from './program.ts';

/** When each attempt of a delivery would come, and how the delivery ends. */
export function Preview({ program }: { program: Program }) {
  const { attempts, end, endsAt } = planOf(program);
  return (
    <div className="stack">
      <h3>{t.program.preview}</h3>
      <Table
        label={t.program.preview}
        columns={[t.program.attempt, t.program.result]}
        numbers={[t.program.begins, t.program.takes]}
      >
        {attempts.map((attempt) => (
          <tr key={attempt.number}>
            <th scope="row">{attempt.number}</th>
            <td>
              <Result attempt={attempt} />
            </td>
            <td data-number>{format.duration(attempt.beginsAt)}</td>
            <td data-number>{format.duration(attempt.takes)}</td>
          </tr>
        ))}
      </Table>
      <p>{t.program.end[end](format.duration(endsAt))}</p>
      {end === 'exhausted' ? <p className="quiet">{t.program.disables}</p> : null}
      <p className="quiet">{t.program.rough}</p>
    </div>
  );
}

const Result = ({ attempt: { result, isAccepted } }: { attempt: PlannedAttempt }) => (
  <Status tone={isAccepted ? 'good' : 'bad'}>
    {typeof result === 'number' ? result : t.program.results[result]}
  </Status>
);
