import { Link } from '../parts/link.tsx';
import { Empty } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { useTexts } from '../text/language.ts';

export function NotFound() {
  const t = useTexts();
  return (
    <Page title={t.notFound.title}>
      <Empty>
        <p>{t.notFound.about}</p>
        <Link to="/">{t.notFound.home}</Link>
      </Empty>
    </Page>
  );
}
