import { useEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { type AuditAction, useAuditLog } from '../../api/audit-log.ts';
import { useIsAdmin } from '../../app/person.ts';
import { isNoSandbox, More } from '../../parts/loaded.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Entries } from './entries.tsx';
import { FilterFields } from './filter-fields.tsx';
import { countNarrowing, type Filters, filtersIn, parametersOf, queryOf } from './filters.ts';

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
