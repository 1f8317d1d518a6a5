import type { AuditAction } from '../../api/audit-log.ts';
import { usePerson } from '../../app/person.ts';
import { Choose, TextField } from '../../parts/field.tsx';
import { Filters as FilterRow } from '../../parts/filters.tsx';
import { t } from '../../text/language.ts';
import { ACTOR_TYPES, countNarrowing, type Filters, isActorType, TIME_CHOICES } from './filters.ts';

/** Which entries are shown. */
export function FilterFields({
  filters,
  actions,
  onChange,
}: {
  filters: Filters;
  actions: readonly AuditAction[];
  onChange: (filters: Filters) => void;
}) {
  const { userId } = usePerson();
  const { actor, time, from, to } = filters;
  const isOther = actor !== 'any' && actor !== userId && !isActorType(actor);
  return (
    <FilterRow count={countNarrowing(filters)}>
      <Choose
        label={t.common.time}
        options={TIME_CHOICES.map((value) => ({ value, label: t.audit.times[value] }))}
        value={time}
        onChange={(chosen) => onChange({ ...filters, time: chosen })}
      />
      <Choose
        label={t.audit.actor}
        options={[
          { value: 'any', label: t.audit.anyActor },
          { value: userId, label: t.audit.me },
          ...ACTOR_TYPES.map((value) => ({ value, label: t.audit.actorTypes[value] })),
          ...(isOther ? [{ value: actor, label: actor }] : []),
        ]}
        value={actor}
        onChange={(chosen) => onChange({ ...filters, actor: chosen })}
      />
      <Choose
        label={t.audit.action}
        options={[
          { value: 'any', label: t.audit.anyAction },
          ...actions.map((value) => ({ value, label: t.audit.actions[value] })),
        ]}
        value={filters.action}
        onChange={(action) => onChange({ ...filters, action })}
      />
      <Choose
        label={t.keys.environment}
        options={(['live', 'sandbox'] as const).map((value) => ({ value, label: t.environment[value] }))}
        value={filters.environment}
        onChange={(environment) => onChange({ ...filters, environment })}
      />
      {time === 'custom' ? (
        <>
          <TextField
            label={t.audit.from}
            type="date"
            value={from}
            onChange={(day) => onChange({ ...filters, from: day })}
          />
          <TextField
            label={t.audit.to}
            type="date"
            value={to}
            onChange={(day) => onChange({ ...filters, to: day })}
          />
        </>
      ) : null}
    </FilterRow>
  );
}
