import { useEffect, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/choose.tsx';
import { TextField } from '../../parts/field.tsx';
import { t } from '../../text/language.ts';
import { delayFrom, FAILURES, MAX_STEPS, moved, type Step, statusFrom } from './program.ts';
import styles from './sandbox.module.css';

/**
 * The answers of a receiver, one for each attempt: added, removed and put in order by buttons, which
 * keyboards and fingers reach alike.
 */
export function Steps({
  steps,
  onChange,
}: {
  steps: readonly Step[];
  onChange: (steps: readonly Step[]) => void;
}) {
  // Steps are equal or not by what they say; a key makes each of them the same one wherever it moves, so that
  // the focus moves with it.
  const [keys, setKeys] = useState<readonly number[]>(() => steps.map(newKey));
  // Others came by the address.
  if (keys.length !== steps.length) setKeys(steps.map(newKey));
  const list = useRef<HTMLOListElement>(null);
  const focusNext = useRef<number>(undefined);
  useEffect(() => {
    if (focusNext.current === undefined) return;
    const step = list.current?.children[Math.min(focusNext.current, steps.length - 1)];
    step?.querySelector('select')?.focus();
    focusNext.current = undefined;
  }, [steps]);
  const change = (next: readonly Step[], nextKeys: readonly number[]) => {
    setKeys(nextKeys);
    onChange(next);
  };
  const move = (from: number, to: number) => change(moved(steps, from, to), moved(keys, from, to));
  const remove = (index: number) => {
    // What had the focus is gone.
    focusNext.current = index;
    change(steps.toSpliced(index, 1), keys.toSpliced(index, 1));
  };
  const add = () => {
    focusNext.current = steps.length;
    change([...steps, { does: 200, afterMs: 0 }], [...keys, newKey()]);
  };
  return (
    <fieldset className={styles.steps}>
      <legend className={styles.legend}>{t.program.steps}</legend>
      <ol className="stack" ref={list}>
        {steps.map((step, index) => (
          <li key={keys[index]} className={styles.step}>
            <StepFields
              number={index + 1}
              step={step}
              onChange={(changed) => change(steps.with(index, changed), keys)}
            />
            <div className={styles.moves}>
              <Button
                look="plain"
                aria-label={t.program.upOf(index + 1)}
                aria-disabled={index === 0}
                onPress={() => move(index, index - 1)}
              >
                {t.program.up}
              </Button>
              <Button
                look="plain"
                aria-label={t.program.downOf(index + 1)}
                aria-disabled={index === steps.length - 1}
                onPress={() => move(index, index + 1)}
              >
                {t.program.down}
              </Button>
              <Button
                look="plain"
                aria-label={t.program.removeOf(index + 1)}
                isDisabled={steps.length === 1}
                onPress={() => remove(index)}
              >
                {t.program.remove}
              </Button>
            </div>
          </li>
        ))}
      </ol>
      <div>
        <Button isDisabled={steps.length >= MAX_STEPS} onPress={add}>
          {t.program.add}
        </Button>
      </div>
    </fieldset>
  );
}

let lastKey = 0;
function newKey(): number {
  lastKey += 1;
  return lastKey;
}

/** Statuses that receivers answer most; any other is typed. */
const USUAL = [200, 204, 301, 400, 401, 404, 410, 429, 500, 502, 503, 504];
const OTHER = 'other';
/** First suggestion for another status. */
const FIRST_OTHER = 418;

function StepFields({
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
