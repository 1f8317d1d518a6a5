import { useQuery } from '@tanstack/react-query';
import { EVENT_TYPES, type EventType } from '../../api/event-types.ts';
import { Code } from '../../parts/code.tsx';
import { Marked } from '../../parts/marked.tsx';
import { t } from '../../text/language.ts';

/** What each event type means, with an example, as the API document has them. Loaded when it is opened. */
export function EventMeanings() {
  const { data, refetch } = useQuery({
    queryKey: ['event-catalogue'],
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await import('../../../../docs/openapi/event-catalogue.json')).default,
  });
  return (
    <details onToggle={({ currentTarget }) => void (currentTarget.open && data === undefined && refetch())}>
      <summary>{t.forms.meaning}</summary>
      <div className="stack">
        {data === undefined
          ? null
          : EVENT_TYPES.map((type) => <Meaning key={type} type={type} {...data[type]} />)}
      </div>
    </details>
  );
}

const Meaning = ({
  type,
  description,
  example,
}: {
  type: EventType;
  description: string;
  example: object;
}) => (
  <section>
    <h3>
      <code>{type}</code>
    </h3>
    <p>
      <Marked text={t.eventTypes.translated?.types[type].description ?? description} />
    </p>
    <Code text={JSON.stringify(example, undefined, 2)} label={t.forms.example(type)} />
  </section>
);
