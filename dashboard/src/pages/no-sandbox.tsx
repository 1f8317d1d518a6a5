import { Link } from 'wouter';
import { ApiFailure } from '../api/failures.ts';
import { Empty } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { t } from '../text/language.ts';

/** Whether the API says that the organization has no sandbox. */
export const isNoSandbox = (error: unknown): boolean =>
  error instanceof ApiFailure && error.type === 'SANDBOX_NOT_PROVISIONED';

/** What the sandbox's pages show while there is none. @param title of the page */
export const NoSandbox = ({ title }: { title: string }) => (
  <Page title={title}>
    <Empty title={t.noSandbox.title}>
      <p>{t.noSandbox.about}</p>
      <Link href="/sandbox">{t.noSandbox.action}</Link>
    </Empty>
  </Page>
);
