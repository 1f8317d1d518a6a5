import { type ComponentType, useEffect, useState } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Loading } from '../parts/notice.tsx';
import { pathIn } from './environment.ts';
import { NotFound } from './not-found.tsx';
import { loadFile } from './page-files.ts';
import { PAGE_ENTRIES, type PageName } from './places.ts';

interface File {
  default: ComponentType<{ id: string }>;
}

/* Each page is a file of its own, loaded when it is opened. */
const FILES: Record<PageName, () => Promise<File>> = {
  overview: () => import('../pages/overview/overview.tsx'),
  events: () => import('../pages/events/events.tsx'),
  endpoints: () => import('../pages/endpoints/endpoints.tsx'),
  endpoint: () => import('../pages/endpoints/endpoint.tsx'),
  channels: () => import('../pages/channels/channels.tsx'),
  recover: () => import('../pages/recover/recover.tsx'),
  failures: () => import('../pages/failures/failures.tsx'),
  deliveries: () => import('../pages/deliveries/deliveries.tsx'),
  'event-types': () => import('../pages/event-types/event-types.tsx'),
  sources: () => import('../pages/sources/sources.tsx'),
  'audit-log': () => import('../pages/audit-log/audit-log.tsx'),
  'api-keys': () => import('../pages/api-keys/api-keys.tsx'),
  sandbox: () => import('../pages/sandbox/sandbox.tsx'),
  usage: () => import('../pages/usage/usage.tsx'),
  settings: () => import('../pages/settings/settings.tsx'),
};

const loading = new Map<PageName, Promise<File>>();
const loaded = new Map<PageName, File>();

/** A page's file, loaded once; one that failed is tried again. */
function load(name: PageName): Promise<File> {
  const file =
    loading.get(name) ??
    loadFile(FILES[name]).then(
      (file) => {
        loaded.set(name, file);
        return file;
      },
      (error: unknown) => {
        loading.delete(name);
        throw error;
      },
    );
  loading.set(name, file);
  return file;
}

/** A page. Without `Suspense`, which holds back for 300 ms what follows its sign of waiting. */
function Page({ name, id }: { name: PageName; id: string }) {
  const [file, setFile] = useState(loaded.get(name));
  const [failure, setFailure] = useState<{ error: unknown }>();
  useEffect(() => {
    load(name).then(setFile, (error: unknown) => setFailure({ error }));
  }, [name]);
  if (failure !== undefined) throw failure.error;
  return file === undefined ? <Loading /> : <file.default id={id} />;
}

/**
 * The routes of all pages. Those of both halves have one for each: what one has loaded is never shown in the
 * other.
 */
const ROUTES = PAGE_ENTRIES.flatMap(([name, { route, ofBoth }]) =>
  (ofBoth ? (['live', 'sandbox'] as const) : (['live'] as const)).map((half) => ({
    name,
    path: pathIn(half, route),
  })),
);

/** Begins to load the page of a path, so that it does not have to wait until it is known who is signed in. */
export function preload(path: string): void {
  const [first = '', second] = path.split('/').filter((part) => part !== '');
  const wanted = first === 'sandbox' && second !== undefined ? second : first === '' ? 'overview' : first;
  const [name] = PAGE_ENTRIES.find(([known]) => known === wanted) ?? [];
  // Opening the page tries again and shows the error.
  if (name !== undefined) void load(name).catch(() => undefined);
}

export const Pages = () => (
  <Switch>
    {ROUTES.map(({ name, path }) => (
      <Route key={path} path={path}>
        {({ id = '' }: { id?: string }) => <Page key={id} name={name} id={id} />}
      </Route>
    ))}
    <Route path="/overview">
      <Redirect to="/" replace />
    </Route>
    <Route component={NotFound} />
  </Switch>
);
