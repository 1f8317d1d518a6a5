import { type Organization, useOrganization } from '../../api/organization.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { Account } from './account.tsx';
import { Browser } from './browser.tsx';
import { Notifications } from './notifications.tsx';

/** What is set for the organization, for this browser, and who is signed in. */
export default function Settings() {
  return (
    <Page title={t.settings.title}>
      <Loaded query={useOrganization()}>
        {(organization) => (
          <>
            <OrganizationFacts organization={organization} />
            <Notifications organization={organization} />
          </>
        )}
      </Loaded>
      <Browser />
      <Account />
    </Page>
  );
}

const OrganizationFacts = ({
  organization: { id, name, tier, createdAt },
}: {
  organization: Organization;
}) => (
  <Card title={t.nav.organization}>
    <Facts
      facts={[
        [t.common.name, <bdi key="name">{name}</bdi>],
        [t.common.id, <CopyId key="id" id={id} what={t.common.id} />],
        [t.settings.tier, t.settings.tiers[tier]],
        [t.common.created, <Moment key="created" at={createdAt} />],
      ]}
    />
  </Card>
);
