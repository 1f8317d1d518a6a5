import type { ReactNode } from 'react';
import { Link as RouterLink } from 'wouter';
import { ApiFailure, isGone } from '../api/failures.ts';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { Link } from './link.tsx';
import { Empty, Failure, Loading } from './notice.tsx';
import { Page, type PageProps } from './page.tsx';

/** What a page needs of a query. */
export interface Query<Data> {
  data: Data | undefined;
  error: unknown;
  refetch: () => unknown;
}

interface LoadedProps<Data> {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
}

/** What a query has read, below the error of a later attempt; until then the error, or that it is loading. */
export const Loaded = <Data,>({
  query: { data, error, refetch },
  lines,
  children,
}: LoadedProps<Data> & { lines?: number | undefined }) => (
  <>
    <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
    {data === undefined ? error ? null : <Loading lines={lines} /> : children(data)}
  </>
);

/** Whether the API says that the organization has no sandbox. */
export const isNoSandbox = (error: unknown): boolean =>
  error instanceof ApiFailure && error.type === 'SANDBOX_NOT_PROVISIONED';

/** What the sandbox's pages show while there is none. @param title of the page */
export const NoSandbox = ({ title }: { title: string }) => (
  <Page title={title}>
    <Empty title={t.noSandbox.title}>
      <p>{t.noSandbox.about}</p>
      <RouterLink href="/sandbox">{t.noSandbox.action}</RouterLink>
    </Empty>
  </Page>
);

/** A page of what a query reads; of the sandbox, while there is none, how to get one. */
export const LoadedPage = <Data,>({
  query,
  lines,
  children,
  ...page
}: Omit<PageProps, 'children'> & LoadedProps<Data> & { lines?: number | undefined }) =>
  isNoSandbox(query.error) ? (
    <NoSandbox title={page.title} />
  ) : (
    <Page {...page}>
      <Loaded query={query} lines={lines}>
        {children}
      </Loaded>
    </Page>
  );

/**
 * A page of one thing, with a way back to the list while there is nothing to show.
 * @param gone says that it does not exist
 * @param list path and name of the list
 */
export function OnePage<Data>({
  query,
  title,
  gone,
  list: [path, name],
  children,
}: LoadedProps<Data> & { title: string; gone: string; list: readonly [path: string, name: string] }) {
  const isMissing = isGone(query.error) && !isNoSandbox(query.error);
  if (query.data !== undefined && !isMissing) return children(query.data);
  if (isNoSandbox(query.error)) return <NoSandbox title={title} />;
  return (
    <Page title={title}>
      <p>
        <Link to={path}>{name}</Link>
      </p>
      {isMissing ? <Empty title={gone} /> : <Loaded query={query}>{children}</Loaded>}
    </Page>
  );
}

/** A button that reads the next page of a list; nothing at its end. */
export const More = ({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) =>
  hasNextPage ? (
    <div>
      <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        {t.common.more}
      </Button>
    </div>
  ) : null;
