import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Route, Switch, useLocation } from 'wouter';
import { mayPass, pauseAfter } from '../api/failures.ts';
import { Page } from '../parts/page.tsx';
import { language, t } from '../text/language.ts';
import { Boundary } from './boundary.tsx';
import { Gate } from './gate.tsx';
import { Pages } from './pages.tsx';
import { Shell } from './shell.tsx';
import { SignedIn } from './signed-in.tsx';

const MAX_RETRIES = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Tried even when the browser says that it is offline: the failure is shown, while a paused request
      // would show nothing.
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && mayPass(error),
      retryDelay: pauseAfter,
    },
    // A paused write could run when it is no longer wanted.
    mutations: { networkMode: 'always' },
  },
});

/** The application: who is not signed in sees the way in and nothing else. */
export const App = () => (
  <I18nProvider locale={language}>
    <QueryClientProvider client={queries}>
      <Switch>
        <Route path="/signed-in">
          <SignedIn />
        </Route>
        <Route>
          <Gate>
            <Shell>
              <Content />
            </Shell>
          </Gate>
        </Route>
      </Switch>
    </QueryClientProvider>
  </I18nProvider>
);

/** What the shell is around; still around it when a page fails. */
function Content() {
  const [path] = useLocation();
  return (
    <Boundary at={path} around={(told) => <Page title={t.failure.broken}>{told}</Page>}>
      <Pages />
    </Boundary>
  );
}
