import { LOGGED_TYPES } from '../../api/event-types.ts';
import type { Endpoint } from '../../api/webhooks.ts';
import { Choose } from '../../parts/field.tsx';
import { Filters as FilterRow } from '../../parts/filters.tsx';
import { t } from '../../text/language.ts';
import { TimeField } from '../deliveries/time-field.tsx';
import { endpointOptions } from '../endpoint-options.ts';
import { type Filters, OUTCOME_CHOICES, parametersOf } from './filters.ts';

/** Which events are shown. */
export function EventFilters({
  endpoints,
  filters,
  onFilters,
}: {
  endpoints: readonly Endpoint[];
  filters: Filters;
  onFilters: (filters: Filters) => void;
}) {
  // A deleted endpoint may be in the address.
  const known = endpoints.some(({ id }) => id === filters.endpoint) || filters.endpoint === 'any';
  return (
    <FilterRow count={Object.keys(parametersOf(filters)).length}>
      <Choose
        label={t.eventLog.type}
        options={['any', ...LOGGED_TYPES].map((value) => ({
          value,
          label: value === 'any' ? t.eventLog.anyType : value,
        }))}
        value={filters.type}
        onChange={(type) => onFilters({ ...filters, type })}
      />
      <Choose
        label={t.deliveries.endpoint}
        options={[
          { value: 'any', label: t.eventLog.anyEndpoint },
          ...(known ? [] : [{ value: filters.endpoint, label: filters.endpoint }]),
          ...endpointOptions(endpoints, t.status),
        ]}
        value={filters.endpoint}
        onChange={(endpoint) => onFilters({ ...filters, endpoint })}
      />
      <Choose
        label={t.eventLog.outcome}
        options={OUTCOME_CHOICES.map((value) => ({ value, label: t.eventLog.outcomes[value] }))}
        value={filters.outcome}
        onChange={(outcome) => onFilters({ ...filters, outcome })}
      />
      <TimeField
        value={filters.time}
        between={filters}
        onChange={(time) => onFilters({ ...filters, time, from: 'any', to: 'any' })}
      />
    </FilterRow>
  );
}
