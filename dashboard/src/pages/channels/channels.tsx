import { useChannels } from '../../api/channels.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page, Table } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { EndpointStatus } from '../endpoint-status.tsx';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { ChannelPage } from './channel.tsx';

/** The organization's channels, or the one in the address. */
export default function Channels({ id }: { id?: string | undefined }) {
  return id === undefined || id === '' ? <List /> : <ChannelPage id={id} />;
}

function List() {
  const { environment } = useEnvironment();
  const { data: channels, error, refetch } = useChannels(environment);
  if (isNoSandbox(error)) return <NoSandbox title={t.channels.title} />;
  return (
    <Page title={t.channels.title} about={t.channels.about}>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {channels === undefined && !error ? <Loading /> : null}
      {channels?.length === 0 ? (
        <Empty title={t.channels.none}>
          <p>{t.channels.noneAbout}</p>
        </Empty>
      ) : null}
      {channels !== undefined && channels.length > 0 ? (
        <Card>
          <Table
            label={t.channels.title}
            isStacked
            head={
              <tr>
                <th scope="col">{t.common.name}</th>
                <th scope="col">{t.endpoints.address}</th>
                <th scope="col">{t.common.status}</th>
                <th scope="col">{t.common.created}</th>
              </tr>
            }
          >
            {channels.map((channel) => (
              <tr key={channel.id}>
                <td>
                  <Link to={`/channels/${channel.id}`}>{channel.name}</Link>
                </td>
                <td data-label={t.endpoints.address}>
                  {channel.url === null ? <code>{channel.kind}</code> : <Url url={channel.url} />}
                </td>
                <td data-label={t.common.status}>
                  <EndpointStatus endpoint={channel} />
                </td>
                <td data-label={t.common.created}>
                  <Ago at={channel.createdAt} />
                </td>
              </tr>
            ))}
          </Table>
        </Card>
      ) : null}
    </Page>
  );
}
