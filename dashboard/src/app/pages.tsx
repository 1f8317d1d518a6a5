import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Loading } from '../parts/notice.tsx';
import { NotFound } from './not-found.tsx';

/* Each page is a file of its own, loaded when it is opened. */
const files = {
  overview: () => import('../pages/overview/overview.tsx'),
  endpoints: () => import('../pages/endpoints/endpoints.tsx'),
  endpoint: () => import('../pages/endpoints/endpoint.tsx'),
  deliveries: () => import('../pages/deliveries/deliveries.tsx'),
  sources: () => import('../pages/sources/sources.tsx'),
  'api-keys': () => import('../pages/api-keys/api-keys.tsx'),
  sandbox: () => import('../pages/sandbox/sandbox.tsx'),
  usage: () => import('../pages/usage/usage.tsx'),
  settings: () => import('../pages/settings/settings.tsx'),
};
const Overview = lazy(files.overview);
const Endpoints = lazy(files.endpoints);
const Endpoint = lazy(files.endpoint);
const Deliveries = lazy(files.deliveries);
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
  // Whoever opens the page tries again, and tells what went wrong.
  void file?.().catch(() => undefined);
}

/** Which page a path shows. Those before `:half` exist for the live organization and for its sandbox. */
export function Pages() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/" component={Overview} />
        <Route path="/sandbox/overview" component={Overview} />
        {['', '/sandbox'].flatMap((half) => [
          <Route key={`${half}/endpoints`} path={`${half}/endpoints`} component={Endpoints} />,
          <Route key={`${half}/endpoint`} path={`${half}/endpoints/:id`}>
            {({ id }) => <Endpoint key={id} id={id} />}
          </Route>,
          <Route
            key={`${half}/deliveries`}
            path={`${half}/deliveries/:endpointId?/:deliveryId?`}
            component={Deliveries}
          />,
          <Route key={`${half}/sources`} path={`${half}/sources/:id?`} component={Sources} />,
        ])}
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
