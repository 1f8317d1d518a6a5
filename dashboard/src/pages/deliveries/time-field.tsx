import { Choose } from '../../parts/choose.tsx';
import { format, t } from '../../text/language.ts';
import { TIME_CHOICES, type TimeChoice } from './filters.ts';

/** How far back a list of events or deliveries goes. @param between the times of a list that has its own */
export function TimeField({
  value,
  between,
  onChange,
}: {
  value: TimeChoice;
  between?: { from: string; to: string };
  onChange: (value: TimeChoice) => void;
}) {
  const own = between !== undefined && between.from !== 'any' ? between : undefined;
  const names: Record<TimeChoice, string> = {
    any: t.deliveries.anyTime,
    hour: t.deliveries.hour,
    day: t.deliveries.day,
    week: t.deliveries.week,
  };
  return (
    <Choose<TimeChoice | typeof OWN>
      label={t.common.time}
      options={[
        ...(own === undefined ? [] : [{ value: OWN as typeof OWN, label: spanOf(own, format.brief) }]),
        ...TIME_NAMES.map((choice) => ({
          value: choice,
          label: names[choice],
        })),
      ]}
      value={own === undefined ? value : OWN}
      onChange={(chosen) => {
        if (chosen !== OWN) onChange(chosen);
      }}
    />
  );
}

const OWN = 'own';
const TIME_NAMES = Object.keys(TIME_CHOICES) as TimeChoice[];

const spanOf = ({ from, to }: { from: string; to: string }, written: (iso: string) => string): string =>
  `${written(from)}${to === 'any' ? '' : ` – ${written(to)}`}`;
