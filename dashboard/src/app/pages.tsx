import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Loading } from '../parts/notice.tsx';
import { NotFound } from './not-found.tsx';
import { loadFile } from './page-files.ts';

/** A file that is loaded once. */
function file<File>(load: () => Promise<File>): () => Promise<File> {
  let loading: Promise<File> | undefined;
  return () => {
    loading ??= loadFile(load);
    return loading;
  };
}

/* Each page is a file of its own, loaded when it is opened. */
const files = {
  overview: file(() => import('../pages/overview/overview.tsx')),
  events: file(() => import('../pages/events/events.tsx')),
  endpoints: file(() => import('../pages/endpoints/endpoints.tsx')),
  endpoint: file(() => import('../pages/endpoints/endpoint.tsx')),
  channels: file(() => import('../pages/channels/channels.tsx')),
  recover: file(() => import('../pages/recover/recover.tsx')),
  failures: file(() => import('../pages/failures/failures.tsx')),
  deliveries: file(() => import('../pages/deliveries/deliveries.tsx')),
  'event-types': file(() => import('../pages/event-types/event-types.tsx')),
  sources: file(() => import('../pages/sources/sources.tsx')),
  'audit-log': file(() => import('../pages/audit-log/audit-log.tsx')),
  'api-keys': file(() => import('../pages/api-keys/api-keys.tsx')),
  sandbox: file(() => import('../pages/sandbox/sandbox.tsx')),
  usage: file(() => import('../pages/usage/usage.tsx')),
  settings: file(() => import('../pages/settings/settings.tsx')),
};
const Overview = lazy(files.overview);
const Events = lazy(files.events);
const Endpoints = lazy(files.endpoints);
const Endpoint = lazy(files.endpoint);
const Channels = lazy(files.channels);
const Recover = lazy(files.recover);
const Failures = lazy(files.failures);
const Deliveries = lazy(files.deliveries);
const EventTypes = lazy(files['event-types']);
const AuditLog = lazy(files['audit-log']);
const Sources = lazy(files.sources);
const ApiKeys = lazy(files['api-keys']);
const Sandbox = lazy(files.sandbox);
const Usage = lazy(files.usage);
const Settings = lazy(files.settings);

/** Begins to load the page of a path, so that it does not have to wait until it is known who is signed in. */
export function preload(path: string): void {
  const [first = '', second] = path.split('/').filter((part) => part !== '');
  const name = first === 'sandbox' && second !== undefined ? second : first === '' ? 'overview' : first;
  const file = Object.entries(files).find(([known]) => known === name)?.[1];
  // Opening the page tries again and shows the error.
  void file?.().catch(() => undefined);
}

/**
 * Which page a path shows. Those of both halves have a key for each: what one has loaded is never shown in
 * the other.
 */
export function Pages() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route key="live" path="/" component={Overview} />
        <Route key="sandbox" path="/sandbox/overview" component={Overview} />
        {['', '/sandbox'].flatMap((half) => [
          <Route key={`${half}/events`} path={`${half}/events/:eventId?`} component={Events} />,
          <Route key={`${half}/endpoints`} path={`${half}/endpoints`} component={Endpoints} />,
          <Route key={`${half}/endpoint`} path={`${half}/endpoints/:id`}>
            {({ id }) => <Endpoint key={id} id={id} />}
          </Route>,
          <Route key={`${half}/channels`} path={`${half}/channels/:id?`}>
            {({ id }) => <Channels key={id} id={id} />}
          </Route>,
          <Route key={`${half}/recover`} path={`${half}/endpoints/:id/recover`}>
            {({ id }) => <Recover key={id} id={id} />}
          </Route>,
          <Route key={`${half}/failures`} path={`${half}/failures`} component={Failures} />,
          <Route
            key={`${half}/deliveries`}
            path={`${half}/deliveries/:endpointId?/:deliveryId?`}
            component={Deliveries}
          />,
          <Route key={`${half}/event-types`} path={`${half}/event-types/:slug?`} component={EventTypes} />,
          <Route key={`${half}/sources`} path={`${half}/sources/:id?/:part?`} component={Sources} />,
        ])}
        <Route path="/audit-log" component={AuditLog} />
        <Route path="/api-keys" component={ApiKeys} />
        <Route path="/sandbox" component={Sandbox} />
        <Route path="/usage" component={Usage} />
        <Route path="/settings" component={Settings} />
        <Route path="/overview">
          <Redirect to="/" replace />
        </Route>
        <Route component={NotFound} />
      </Switch>
    </Suspense>
  );
}
