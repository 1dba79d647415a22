ALTER DATABASE :"database" SET default_transaction_isolation = :'isolation';
