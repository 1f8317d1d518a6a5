import { useQuery } from '@tanstack/react-query';
import { Redirect } from 'wouter';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { lookUpPorts } from '../search/api.ts';
import { lookUp } from '../search/look-up.ts';

/** A delivery of which the address does not say the endpoint. */
export function DeliveryById({ id }: { id: string }) {
  const { environment, to } = useEnvironment();
  const { data, error, refetch } = useQuery({
    queryKey: [environment, 'deliveries', id],
    queryFn: ({ signal }) => lookUp(id, lookUpPorts([environment], false, signal)),
  });
  if (data?.kind === 'found') return <Redirect to={to(data.path)} replace />;
  return (
    <Page title={t.deliveries.title} about={t.deliveries.about}>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !error ? <Loading /> : null}
      {data === undefined ? null : (
        <Empty title={t.deliveries.gone}>
          <p>{data.note === 'expired' ? t.search.expired : t.search.deliveries}</p>
          <Link to="/events">{t.eventLog.all}</Link>
        </Empty>
      )}
    </Page>
  );
}
