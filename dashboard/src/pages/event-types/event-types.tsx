import { useParams } from 'wouter';
import { NotFound } from '../../app/not-found.tsx';
import { typeNamed } from './catalogue.ts';
import { EventTypePage } from './event-type.tsx';
import { EventTypeList } from './list.tsx';

/** The event types: all of them, or one with its schema. */
export default function EventTypes() {
  const { slug } = useParams<{ slug?: string }>();
  if (slug === undefined) return <EventTypeList />;
  const type = typeNamed(slug);
  return type === undefined ? <NotFound /> : <EventTypePage key={type} type={type} />;
}
