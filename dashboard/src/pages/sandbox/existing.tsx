import type { Sandbox } from '../../api/sandbox.ts';
import { Button } from '../../parts/button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { Ago, Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';

/** The sandbox that there is, and what can be done with it. */
export function Existing({
  sandbox,
  isAdmin,
  onKey,
  onReset,
}: {
  sandbox: Sandbox;
  isAdmin: boolean;
  onKey: () => void;
  onReset: () => void;
}) {
  const { sandboxOrganizationId: id, createdAt, lastResetAt, purge } = sandbox;
  return (
    <Card title={t.sandbox.facts}>
      <Facts
        facts={[
          [t.common.id, <CopyId key="id" id={id} what={t.common.id} />],
          [t.common.created, <Moment key="created" at={createdAt} />],
          [t.sandbox.lastReset, lastResetAt === null ? t.keys.never : <Ago key="reset" at={lastResetAt} />],
        ]}
      />
      {purge === null ? null : (
        <Notice tone="busy" title={t.sandbox.purge}>
          <p>{t.sandbox.purgeAbout(format.number(purge.deleted))}</p>
        </Notice>
      )}
      {isAdmin ? (
        <div className="row">
          <Button onPress={onKey}>{t.sandbox.key}</Button>
          <Button look="danger" onPress={onReset}>
            {t.sandbox.reset}
          </Button>
        </div>
      ) : (
        <p className="quiet">{t.admins}</p>
      )}
    </Card>
  );
}
