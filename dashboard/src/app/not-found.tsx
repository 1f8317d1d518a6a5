import { Link } from '../parts/link.tsx';
import { Empty } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { t } from '../text/language.ts';

export const NotFound = () => (
  <Page title={t.notFound.title}>
    <Empty>
      <p>{t.notFound.about}</p>
      <Link to="/">{t.notFound.home}</Link>
    </Empty>
  </Page>
);
