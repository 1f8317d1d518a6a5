import { useEffect, useState } from 'react';
import { Choose, TextField } from '../../parts/field.tsx';
import { t } from '../../text/language.ts';
import { delayFrom, FAILURES, type Step, statusFrom } from './program.ts';
import styles from './sandbox.module.css';

/** Statuses that receivers answer most; any other is typed. */
const USUAL = [200, 204, 301, 400, 401, 404, 410, 429, 500, 502, 503, 504];
const OTHER = 'other';
/** First suggestion for another status. */
const FIRST_OTHER = 418;

/** What the receiver does at one attempt, and after how long. */
export function StepFields({
  number,
  step,
  onChange,
}: {
  number: number;
  step: Step;
  onChange: (step: Step) => void;
}) {
  const { does, afterMs } = step;
  const isOther = typeof does === 'number' && !USUAL.includes(does);
  return (
    <div className={styles.fields}>
      <Choose
        label={`${t.program.step(number)}: ${t.program.does}`}
        options={[
          ...USUAL.map((status) => ({ value: `${status}`, label: t.program.answers(status) })),
          { value: OTHER, label: t.program.answersOther },
          ...FAILURES.map((failure) => ({ value: failure, label: t.program.failures[failure] })),
        ]}
        value={isOther ? OTHER : `${does}`}
        onChange={(chosen) => {
          const failure = FAILURES.find((each) => each === chosen);
          onChange({ afterMs, does: failure ?? (chosen === OTHER ? FIRST_OTHER : Number(chosen)) });
        }}
      />
      {isOther ? (
        <Typed
          label={t.common.status}
          value={`${does}`}
          read={statusFrom}
          problem={t.program.statusInvalid}
          onChange={(status) => onChange({ ...step, does: status })}
        />
      ) : null}
      {does === 'timeout' ? null : (
        <Typed
          label={t.program.after}
          value={`${afterMs / 1000}`}
          read={delayFrom}
          problem={t.program.afterInvalid}
          onChange={(after) => onChange({ ...step, afterMs: after })}
        />
      )}
    </div>
  );
}

/** A number that is typed: taken over as soon as it is one. */
function Typed({
  label,
  value,
  read,
  problem,
  onChange,
}: {
  label: string;
  value: string;
  read: (text: string) => number | undefined;
  problem: string;
  onChange: (value: number) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => {
    // Another way of writing the same number stays as it was typed.
    setText((typed) => (read(typed) === read(value) ? typed : value));
  }, [value, read]);
  return (
    <TextField
      label={label}
      inputMode="decimal"
      value={text}
      problem={read(text) === undefined ? problem : undefined}
      onChange={(typed) => {
        setText(typed);
        const number = read(typed);
        if (number !== undefined) onChange(number);
      }}
    />
  );
}
