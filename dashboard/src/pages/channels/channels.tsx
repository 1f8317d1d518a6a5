import { useChannels } from '../../api/channels.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { EndpointStatus } from '../endpoint-name.tsx';
import { ChannelPage } from './channel.tsx';

export default function Channels({ id }: { id?: string | undefined }) {
  return id === undefined || id === '' ? <List /> : <ChannelPage id={id} />;
}

function List() {
  const { environment } = useEnvironment();
  return (
    <LoadedPage title={t.channels.title} about={t.channels.about} query={useChannels(environment)}>
      {(channels) =>
        channels.length === 0 ? (
          <Empty title={t.channels.none}>
            <p>{t.channels.noneAbout}</p>
          </Empty>
        ) : (
          <Card>
            <Table
              label={t.channels.title}
              isStacked
              columns={[t.common.name, t.endpoints.address, t.common.status, t.common.created]}
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
        )
      }
    </LoadedPage>
  );
}
