import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Route, Switch } from 'wouter';
import { mayPass } from '../api/failures.ts';
import { useLanguage } from '../text/language.ts';
import { Gate } from './gate.tsx';
import { Pages } from './pages.tsx';
import { Shell } from './shell.tsx';
import { SignedIn } from './signed-in.tsx';

const MAX_RETRIES = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && mayPass(error),
    },
  },
});

/** The application: who is not signed in sees the way in and nothing else. */
export function App() {
  return (
    <I18nProvider locale={useLanguage()}>
      <QueryClientProvider client={queries}>
        <Switch>
          <Route path="/signed-in">
            <SignedIn />
          </Route>
          <Route>
            <Gate>
              <Shell>
                <Pages />
              </Shell>
            </Gate>
          </Route>
        </Switch>
      </QueryClientProvider>
    </I18nProvider>
  );
}
