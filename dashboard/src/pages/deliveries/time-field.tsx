import { Choose } from '../../parts/field.tsx';
import { useTexts } from '../../text/language.ts';
import { TIME_CHOICES, type TimeChoice } from './filters.ts';

/** How far back a list of events or deliveries goes. */
export function TimeField({ value, onChange }: { value: TimeChoice; onChange: (value: TimeChoice) => void }) {
  const t = useTexts();
  const names: Record<TimeChoice, string> = {
    any: t.deliveries.anyTime,
    hour: t.deliveries.hour,
    day: t.deliveries.day,
    week: t.deliveries.week,
  };
  return (
    <Choose
      label={t.deliveries.time}
      options={(Object.keys(TIME_CHOICES) as TimeChoice[]).map((choice) => ({
        value: choice,
        label: names[choice],
      }))}
      value={value}
      onChange={onChange}
    />
  );
}
