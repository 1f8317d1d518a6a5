import type { Environment } from '../../api/client.ts';
import { PREVIEW_DAYS, useRecentEvents } from '../../api/events.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { filteredValues, type LoggedEvent, previewOf, type Selection } from './filter.ts';

/** What settings with a filter would send of the latest events, before they are saved. */
export const FilterPreview = ({
  environment,
  next,
  saved,
}: {
  environment: Environment;
  next: Selection;
  saved: Selection | undefined;
}) => (
  <Loaded query={useRecentEvents(environment)} lines={2}>
    {(recent) => <Preview {...recent} next={next} saved={saved} />}
  </Loaded>
);

function Preview({
  events,
  isWhole,
  next,
  saved,
}: {
  events: readonly LoggedEvent[];
  isWhole: boolean;
  next: Selection;
  saved: Selection | undefined;
}) {
  const last = events.at(-1);
  if (last === undefined) return <Notice tone="idle" title={t.filter.noEvents(PREVIEW_DAYS)} />;
  const { sent, types, peak, examples, lost } = previewOf(events, next, saved);
  return (
    <>
      {/* What is heard at each change is only this. */}
      <Notice tone="idle" title={t.filter.sent(sent, format.number(sent))}>
        {lost === undefined ? null : <p>{t.filter.lost(lost, format.number(lost))}</p>}
      </Notice>
      <p className="quiet">
        {isWhole
          ? t.filter.lookedAtAll(events.length, format.number(events.length), PREVIEW_DAYS)
          : t.filter.lookedAt(format.number(events.length), format.short(last.createdAt))}
        {sent === 0 ? null : ` ${t.filter.peak(format.number(peak))}`}
      </p>
      {sent === 0 ? null : (
        <>
          <ul aria-label={t.resend.byType}>
            {types.map(({ key, count }) => (
              <li key={key}>
                {format.number(count)} × <code>{key}</code>
              </li>
            ))}
          </ul>
          <p>{t.filter.examples}</p>
          <ul aria-label={t.filter.examples}>
            {examples.map((event) => (
              <li key={event.id}>
                <code>{[event.type, ...filteredValues(event)].join(' · ')}</code>{' '}
                <span className="quiet">
                  <Moment at={event.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
