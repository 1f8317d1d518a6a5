import { useState } from 'react';
import { Link } from 'wouter';
import { EVENT_TYPES } from '../../api/event-types.ts';
import { useRegister } from '../../api/webhooks.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { format, t } from '../../text/language.ts';
import { Registered } from '../endpoints/registered.tsx';
import { type PlannedAttempt, planOf } from './plan.ts';
import { MAX_SPEED, type Program, readProgram, withProgram } from './program.ts';
import styles from './sandbox.module.css';
import { Steps } from './steps.tsx';

const EXAMPLE: Program = {
  steps: [
    { does: 503, afterMs: 0 },
    { does: 'timeout', afterMs: 0 },
    { does: 200, afterMs: 2000 },
  ],
  speed: 1000,
};
const MAX_ADDRESS = 2048;

/**
 * Puts together the address of a simulated receiver, and shows what it makes of a delivery. Address and steps
 * change one another.
 */
export function Receiver({ hasSandbox }: { hasSandbox: boolean }) {
  const [address, setAddress] = useState(() => withProgram('https://example.com/hooks', EXAMPLE));
  // While the address is malformed, as it is in the midst of typing, the last one that was not is shown.
  const [program, setProgram] = useState<Program>(EXAMPLE);
  const read = readProgram(address.trim());
  const type = (text: string) => {
    setAddress(text);
    const typed = readProgram(text.trim());
    if (typed.ok) setProgram(typed.program);
  };
  const become = (next: Program) => {
    setProgram(next);
    setAddress(withProgram(address.trim(), next));
  };
  return (
    <Card title={t.program.title}>
      <p className="quiet">{t.program.about}</p>
      <TextField
        label={t.endpoints.address}
        hint={t.program.addressHint}
        isCode
        maxLength={MAX_ADDRESS}
        value={address}
        onChange={type}
        problem={read.ok ? undefined : t.program.problems[read.problem]}
      />
      <div className="row">
        <CopyButton text={address.trim()} what={t.endpoints.address} />
        <RegisterReceiver
          address={address.trim()}
          isPossible={hasSandbox && read.ok}
          hasSandbox={hasSandbox}
        />
      </div>
      <div className={styles.columns}>
        <div className="stack">
          <Steps steps={program.steps} onChange={(steps) => become({ ...program, steps })} />
          <Speed speed={program.speed} onChange={(speed) => become({ ...program, speed })} />
        </div>
        <Preview program={program} />
      </div>
    </Card>
  );
}

/** Registers an address in the sandbox, in one press, and shows the signing secret, once. */
function RegisterReceiver({
  address,
  isPossible,
  hasSandbox,
}: {
  address: string;
  isPossible: boolean;
  hasSandbox: boolean;
}) {
  const isAdmin = useIsAdmin();
  const { mutate, data, isPending, error, reset } = useRegister('sandbox');
  const [lastId, setLastId] = useState<string>();
  if (!isAdmin) return <span className="quiet">{t.admins}</span>;
  const register = () => {
    mutate({ url: address, events: [...EVENT_TYPES] }, { onSuccess: ({ id }) => setLastId(id) });
  };
  return (
    <>
      <Button isDisabled={!isPossible} isPending={isPending} onPress={register}>
        {t.program.register}
      </Button>
      {lastId === undefined ? null : <Link href={`/sandbox/endpoints/${lastId}`}>{t.program.open}</Link>}
      <span className="quiet">{hasSandbox ? t.program.registerAbout : t.program.needsSandbox}</span>
      <Failure error={error} />
      {data ? <Registered endpoint={data} isTested onClose={reset} /> : null}
    </>
  );
}

const USUAL = [1, 10, 60, 100, 1000, MAX_SPEED];

/** How much faster than in reality time passes. The address may say another speed than the usual ones. */
function Speed({ speed, onChange }: { speed: number; onChange: (speed: number) => void }) {
  const speeds = [...new Set([...USUAL, speed])].sort((a, b) => a - b);
  return (
    <Choose
      label={t.program.speed}
      options={speeds.map((times) => ({
        value: `${times}`,
        label: times === 1 ? t.program.realSpeed : t.program.speeds(format.number(times)),
      }))}
      value={`${speed}`}
      onChange={(chosen) => onChange(Number(chosen))}
    />
  );
}

/** When each attempt of a delivery would come, and how the delivery ends. */
function Preview({ program }: { program: Program }) {
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
