import { useParams } from 'wouter';
import { SourceList } from './list.tsx';
import { SourcePage } from './source.tsx';

/** The content that answers come from: all of it, or one source. */
export default function Sources() {
  const { id } = useParams<{ id?: string }>();
  return id === undefined ? <SourceList /> : <SourcePage key={id} id={id} />;
}
