import { usePerson } from '../../app/person.ts';
import { Card, Facts } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';

/** Who is signed in, as what, and until when. */
export function Account() {
  const { email, userId, role, expiresAt } = usePerson();
  return (
    <Card title={t.settings.you}>
      <Facts
        facts={[
          [t.settings.email, email === null ? t.none : <bdi key="email">{email}</bdi>],
          [t.settings.userId, <code key="user">{userId}</code>],
          [t.settings.role, t.account.role[role]],
          [t.settings.sessionEnds, <Moment key="ends" at={expiresAt} />],
        ]}
      />
      <p className="quiet">{t.settings.sessionAbout}</p>
    </Card>
  );
}
