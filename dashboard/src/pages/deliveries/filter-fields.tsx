import { DELIVERED_TYPES } from '../../api/event-types.ts';
import type { Receiver } from '../../api/webhooks.ts';
import { Choose } from '../../parts/field.tsx';
import { Filters as FilterRow } from '../../parts/filters.tsx';
import { t } from '../../text/language.ts';
import { endpointOptions } from '../endpoint-options.ts';
import { type Filters, STATUS_CHOICES, type StatusChoice } from './filters.ts';
import { TimeField } from './time-field.tsx';

/** The choice of all endpoints. */
export const ANY = 'any';

/** Whose deliveries are shown, and which of them. */
export function FilterFields({
  endpoint,
  endpoints,
  filters,
  onEndpoint,
  onFilters,
}: {
  endpoint: Receiver;
  endpoints: readonly Receiver[];
  filters: Filters;
  onEndpoint: (id: string) => void;
  onFilters: (filters: Filters) => void;
}) {
  const statuses: Record<StatusChoice, string> = {
    any: t.deliveries.anyStatus,
    failed: t.eventLog.outcomes.failed,
    open: t.common.open,
    ...t.status,
  };
  return (
    <FilterRow count={Object.values(filters).filter((value) => value !== 'any').length}>
      <Choose
        label={t.deliveries.endpoint}
        options={[{ value: ANY, label: t.eventLog.anyEndpoint }, ...endpointOptions(endpoints, t.status)]}
        value={endpoint.id}
        onChange={onEndpoint}
      />
      <Choose
        label={t.common.status}
        options={(Object.keys(STATUS_CHOICES) as StatusChoice[]).map((value) => ({
          value,
          label: statuses[value],
        }))}
        value={filters.status}
        onChange={(status) => onFilters({ ...filters, status })}
      />
      <Choose
        label={t.eventLog.one}
        options={['any', ...DELIVERED_TYPES].map((value) => ({
          value,
          label: value === 'any' ? t.deliveries.anyEvent : value,
        }))}
        value={filters.event}
        onChange={(event) => onFilters({ ...filters, event })}
      />
      <TimeField value={filters.time} onChange={(time) => onFilters({ ...filters, time })} />
    </FilterRow>
  );
}
