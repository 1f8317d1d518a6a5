import { useEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { type AuditAction, useAuditLog } from '../../api/audit-log.ts';
import { useIsAdmin, usePerson } from '../../app/person.ts';
import { Choose } from '../../parts/choose.tsx';
import { TextField } from '../../parts/field.tsx';
import { Filters as FilterRow } from '../../parts/filters.tsx';
import { isNoSandbox, More } from '../../parts/loaded.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Entries } from './entries.tsx';
import {
  ACTOR_TYPES,
  countNarrowing,
  type Filters,
  filtersIn,
  isActorType,
  parametersOf,
  queryOf,
  TIME_CHOICES,
} from './filters.ts';

/** Who changed the set-up. The API shows it to admins only, so members see a note without a request. */
export default function AuditLog() {
  return useIsAdmin() ? (
    <Log />
  ) : (
    <Page title={t.audit.title} about={t.audit.about}>
      <Empty title={t.audit.adminsTitle}>
        <p>{t.audit.adminsAbout}</p>
      </Empty>
    </Page>
  );
}

function Log() {
  const [search, setSearch] = useSearchParams();
  const actions = Object.keys(t.audit.actions) as AuditAction[];
  const filters = filtersIn(search, actions);
  const change = (changed: Filters) => setSearch(parametersOf(changed), { replace: true });
  return (
    <Page title={t.audit.title} about={t.audit.about}>
      <FilterFields filters={filters} actions={actions} onChange={change} />
      <Listing key={JSON.stringify(filters)} filters={filters} onChange={change} />
    </Page>
  );
}

function Listing({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const [now] = useState(() => new Date());
  const query = useMemo(() => queryOf(filters, now), [filters, now]);
  const reading = useAuditLog(query);
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = reading;
  const isNarrowed = countNarrowing(filters) > 0;
  const entries = data?.pages.flatMap((page) => page.data);
  // A page with a filter may be empty and still have a next one.
  const goesOn = entries?.length === 0 && hasNextPage && !isFetchingNextPage && error === null;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  if (isNoSandbox(error))
    return (
      <Empty title={t.noSandbox.title}>
        <p>{t.noSandbox.about}</p>
      </Empty>
    );
  return (
    <>
      <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
      {(entries === undefined || (entries.length === 0 && hasNextPage)) && !error ? <Loading /> : null}
      {entries?.length === 0 && !hasNextPage ? (
        <Empty title={isNarrowed ? t.audit.noMatch : t.audit.emptyTitle}>
          <p>{isNarrowed ? t.audit.noMatchAbout : t.audit.emptyAbout}</p>
        </Empty>
      ) : null}
      {entries !== undefined && entries.length > 0 ? (
        <Card>
          <Entries
            entries={entries}
            environment={filters.environment}
            onActor={(actor) => onChange({ ...filters, actor })}
          />
          {hasNextPage ? <More query={reading} /> : <p className="quiet">{t.audit.end}</p>}
        </Card>
      ) : null}
    </>
  );
}

function FilterFields({
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
