import type { Source } from '../../api/sources.ts';
import { Code } from '../../parts/code.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Facts } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { Meter } from './meter.tsx';
import { AgoOrNever, SourceStatus } from './row.tsx';
import { useThreshold } from './threshold.ts';

/** All that is known of a source. */
export function SourceFacts({ source }: { source: Source }) {
  const threshold = useThreshold();
  const { id, url, kind, title, words, version } = source;
  return (
    <>
      <Facts
        facts={[
          [t.common.status, <SourceStatus key="status" status={source.status} />],
          [t.sources.url, <CopyId key="url" id={url} what={t.sources.url} />],
          [t.common.kind, t.sources.kindHints[kind]],
          [t.sources.contentTitle, title === null ? t.none : <bdi key="title">{title}</bdi>],
          [t.sources.words, words === null ? t.none : format.number(words)],
          [t.sources.version, version === null ? t.none : format.number(version)],
          [
            t.sources.difference,
            <Meter key="difference" difference={source.difference} threshold={threshold} />,
          ],
          [t.sources.lastChecked, <AgoOrNever key="checked" at={source.lastCheckedAt} />],
          [t.sources.lastChanged, <AgoOrNever key="changed" at={source.lastChangedAt} />],
          [t.sources.lastNotified, <AgoOrNever key="notified" at={source.lastNotifiedAt} />],
          [t.sources.nextCheck, <Moment key="next" at={source.nextCheckAt} />],
          [t.sources.created, <Moment key="created" at={source.createdAt} />],
          [t.common.id, <CopyId key="id" id={id} what={t.common.id} />],
        ]}
      />
      {source.lastError === null ? null : (
        <Code label={t.common.lastError} text={source.lastError} isWrapped />
      )}
    </>
  );
}
