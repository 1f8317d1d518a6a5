import { useQuery } from '@tanstack/react-query';
import { Redirect } from 'wouter';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { lookUpPorts } from '../search/api.ts';
import { lookUp } from '../search/look-up.ts';

/** A delivery of which the address does not say the endpoint. */
export function DeliveryById({ id }: { id: string }) {
  const { environment, to } = useEnvironment();
  const query = useQuery({
    queryKey: [environment, 'deliveries', id],
    queryFn: ({ signal }) => lookUp(id, lookUpPorts([environment], false, signal)),
  });
  return (
    <LoadedPage title={t.deliveries.title} about={t.deliveries.about} query={query}>
      {(result) =>
        result.kind === 'found' ? (
          <Redirect to={to(result.path)} replace />
        ) : (
          <Empty title={t.deliveries.gone}>
            <p>{result.note === 'expired' ? t.search.expired : t.search.deliveries}</p>
            <Link to="/events">{t.eventLog.all}</Link>
          </Empty>
        )
      }
    </LoadedPage>
  );
}
