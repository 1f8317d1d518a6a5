import { Choose } from '../../parts/field.tsx';
import { format, t } from '../../text/language.ts';
import { MAX_SPEED } from './program.ts';

const USUAL = [1, 10, 60, 100, 1000, MAX_SPEED];

/** How much faster than in reality time passes. The address may say another speed than the usual ones. */
export function Speed({ speed, onChange }: { speed: number; onChange: (speed: number) => void }) {
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
