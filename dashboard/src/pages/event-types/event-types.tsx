import { useParams } from 'wouter';
import { NotFound } from '../../app/not-found.tsx';
import { isCatalogued } from './catalogue.ts';
import { EventTypePage } from './event-type.tsx';
import { EventTypeList } from './list.tsx';

/** The event types: all of them, or one with its schema. */
export default function EventTypes() {
  const { type } = useParams<{ type?: string }>();
  if (type === undefined) return <EventTypeList />;
  return isCatalogued(type) ? <EventTypePage key={type} type={type} /> : <NotFound />;
}
