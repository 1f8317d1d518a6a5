import { lazy, type RefObject, Suspense, useEffect } from 'react';
import { Link as RouterLink, useLocation } from 'wouter';
import { HISTORY_DAYS, useEvent } from '../../api/events.ts';
import { ApiFailure } from '../../api/failures.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { samePlaceIn, useEnvironment } from '../../app/environment.ts';
import { loadFile } from '../../app/page-files.ts';
import { Empty, Loading } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { Beside } from '../live/split.tsx';
import { createdAt, isId } from '../search/ids.ts';

const load = () => loadFile(() => import('./content.tsx'));
const Content = lazy(load);

/**
 * One event beside the list: whether it arrived, why not, and what was sent.
 * @param heading gets the focus when the event is opened
 */
export function Detail({
  id,
  search,
  heading,
}: {
  id: string;
  search: string;
  heading: RefObject<HTMLHeadingElement | null>;
}) {
  const { environment } = useEnvironment();
  const query = useEvent(environment, id, isId(id));
  useEffect(() => {
    // While the event is read. Showing it tries again and shows the error.
    void load().catch(() => undefined);
  }, []);
  return (
    <Beside
      query={isId(id) ? query : { ...query, error: new ApiFailure('', { status: 404, type: 'NOT_FOUND' }) }}
      label={t.eventLog.one}
      title={query.data?.type}
      list={`/events${search}`}
      heading={heading}
      missing={<Missing id={id} />}
    >
      {(event) => (
        <Suspense fallback={<Loading />}>
          <Content event={event} />
        </Suspense>
      )}
    </Beside>
  );
}

/** Says why there is no such event: it is too old, or of the other environment, or of no one here. */
function Missing({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const [path] = useLocation();
  const other = environment === 'live' ? 'sandbox' : 'live';
  const isExpired = isId(id) && serviceNow() - createdAt(id) > HISTORY_DAYS * 86_400_000;
  return (
    <Empty title={t.eventLog.gone}>
      <p>{isExpired ? t.eventLog.goneExpired : t.eventLog.goneAbout[environment]}</p>
      {isExpired || !isId(id) ? null : (
        <RouterLink href={`${samePlaceIn(other, path)}/${id}`}>{t.eventLog.lookIn[other]}</RouterLink>
      )}
    </Empty>
  );
}
