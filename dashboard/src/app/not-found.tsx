import { Link } from 'wouter';
import { Empty } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { useTexts } from '../text/language.ts';

export function NotFound() {
  const t = useTexts();
  return (
    <Page title={t.notFound.title}>
      <Empty title={t.notFound.title}>
        <p>{t.notFound.about}</p>
        <Link href="/">{t.notFound.home}</Link>
      </Empty>
    </Page>
  );
}
