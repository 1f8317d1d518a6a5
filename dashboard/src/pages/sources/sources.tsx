import { useParams } from 'wouter';
import { ContentPage } from './content.tsx';
import { SourceList } from './list.tsx';
import { SourcePage } from './source.tsx';

/** The content that answers come from: all of it, one source, or its text. */
export default function Sources() {
  const { id, part } = useParams<{ id?: string; part?: string }>();
  if (id !== undefined && part === 'content') return <ContentPage key={id} id={id} />;
  return id === undefined ? <SourceList /> : <SourcePage key={id} id={id} />;
}
